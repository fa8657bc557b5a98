"""What the answers of one split are worth: the numbers kept for it."""

from typing import Any

import numpy as np
from benchmarks.abstain.answers import Judged

from elmband.metrics import (
    aurc,
    coverage_without_false_positives,
    selective_summary,
    true_positives_at_fpr,
)

COVERAGES = (0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1.0)
RATES = (1e-3, 1e-4)


def score(judged: Judged, positive: int | None) -> dict[str, Any]:
    """Return all scores of a split, as plain numbers.

    ``parts`` has a line for each of `COVERAGES`, as in `selective_summary`, and the share of its
    answered rows that are called positive: a part without such rows has no false positives.
    """
    y, label, confidence, _ = judged
    if not np.isfinite(confidence).all():
        raise ValueError("confidences must be finite")
    rows = selective_summary(y, label, confidence, coverages=COVERAGES, pos_label=positive)
    result: dict[str, Any] = {
        "n": len(y),
        "aurc": aurc(y, label, confidence),
        "parts": [row._asdict() for row in rows],
    }
    if positive is None:
        return result
    for part in result["parts"]:
        part["called"] = float(np.mean(label[confidence >= part["threshold"]] == positive))
    result["no_fp"] = coverage_without_false_positives(y, label, confidence, pos_label=positive)
    for rate in RATES:
        found = true_positives_at_fpr(y, label, confidence, rate, pos_label=positive)
        result[f"found{rate:g}"] = found
    return result
