"""Single rows in tables: the worst of them and the most certain, with what they are like."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from elmband.report.axes import MISSING
from elmband.report.bins import FeatureBins
from elmband.report.tallies import Extremes

# Features shown beside a row: those that matter most.
N_SHOWN = 3


def interval_rows(features: FeatureBins, found: Extremes) -> list[dict[str, Any]]:
    """Return rows with their intervals, and with the features that matter most."""
    return [
        {
            "row": row,
            "target": y,
            "mean": mean,
            "lower": lower,
            "upper": upper,
            "width": upper - lower,
            "off": abs(y - mean) / std if std > 0 else None,
            "noise": noise,
            "features": beside(features, x),
        }
        for row, (y, mean, lower, upper, std, noise, *x) in _numbered(found)
    ]


def class_rows(
    features: FeatureBins, labels: Sequence[str], found: Extremes
) -> list[dict[str, Any]]:
    """Return rows with their classes, and with the features that matter most."""
    return [
        {
            "row": row,
            "true": labels[int(true)],
            "called": labels[int(called)],
            "score": score,
            "probability": probability,
            "features": beside(features, x),
        }
        for row, (true, called, score, probability, *x) in _numbered(found)
    ]


def _numbered(found: Extremes) -> Any:
    return zip(found.numbers.tolist(), found.values.tolist(), strict=True)


def beside(features: FeatureBins, x: Sequence[float]) -> list[str | float]:
    """Return the values of the first features for a row x, as people know them."""
    row = np.array([x])
    values = [axis.groups(row)[0].item() for axis in features.axes[:N_SHOWN]]
    return [MISSING if value != value else value for value in values]  # noqa: PLR0124
