"""How often the model is right, which classes it mixes up, and what its probabilities are worth."""

from typing import Any

import numpy as np

from elmband.report.classes.counts import N_PROBABILITIES, Counts, Plan
from elmband.report.shares import Share

# A table of more classes does not fit a page.
MOST_CLASSES = 12
_MOST_PAIRS = 10


def right(plan: Plan, counts: Counts) -> dict[str, Any]:
    """Return the share of right labels, and which classes are taken for which."""
    labels = plan.labels
    table = counts.by_class(len(labels)).sum(axis=2)
    n, hits = float(table.sum()), float(np.trace(table))
    measured = Share.of(hits, n)
    true, called = table.sum(axis=1), table.sum(axis=0)
    classes = [
        {
            "label": label,
            "n": round(float(true[j])),
            "found": _ratio(table[j, j], true[j]),
            "precision": _ratio(table[j, j], called[j]),
        }
        for j, label in enumerate(labels)
    ]
    return {
        "share": measured.share,
        **measured.margin,
        "n_wrong": round(n - hits),
        "guess": float(true.max()) / n,
        "most": labels[int(true.argmax())],
        "classes": classes,
        "table": table.astype(int).tolist() if len(labels) <= MOST_CLASSES else None,
        "pairs": _pairs(table, labels),
    }


def _pairs(table: Any, labels: list[str]) -> list[dict[str, Any]]:
    """Return the most frequent confusions."""
    wrong = table - np.diag(np.diag(table))
    order = np.argsort(-wrong.ravel(), kind="stable")[:_MOST_PAIRS]
    pairs = (divmod(int(place), len(labels)) for place in order)
    return [
        {"true": labels[i], "called": labels[j], "n": round(float(wrong[i, j]))}
        for i, j in pairs
        if wrong[i, j] > 0
    ]


def probability(plan: Plan, counts: Counts) -> dict[str, Any]:
    """Return how often predicted probabilities came true, in bins of equal width."""
    bins = []
    for place, (n, expected, true) in enumerate(counts.probabilities.sums.tolist()):
        if n == 0:
            continue
        measured = Share.of(true, n)
        bins.append(
            {
                "from": place / N_PROBABILITIES,
                "to": (place + 1) / N_PROBABILITIES,
                "n": round(n),
                "said": expected / n,
                "true": measured.share,
                **measured.margin,
            }
        )
    gaps = [line["n"] * abs(line["said"] - line["true"]) for line in bins]
    labels = plan.labels
    place_of = 1 if plan.positive is None else plan.positive
    return {
        "bins": bins,
        "gap": sum(gaps) / sum(line["n"] for line in bins),
        "of": labels[place_of] if len(labels) == 2 else None,
    }


def _ratio(part: Any, whole: Any) -> float | None:
    return float(part / whole) if whole > 0 else None
