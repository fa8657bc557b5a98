"""Single rows: the worst misses, the widest and the narrowest intervals."""

from typing import Any

from elmband.report.intervals.counts import Plan
from elmband.report.single import beside
from elmband.report.tallies import Extremes


def single_rows(plan: Plan, found: Extremes) -> list[dict[str, Any]]:
    """Return the rows of a table, with the values of the features that matter most."""
    lines = []
    for row, (y, mean, lower, upper, std, noise, *x) in zip(
        found.numbers.tolist(), found.values.tolist(), strict=True
    ):
        lines.append(
            {
                "row": row,
                "target": y,
                "mean": mean,
                "lower": lower,
                "upper": upper,
                "width": upper - lower,
                "off": abs(y - mean) / std if std > 0 else None,
                "noise": noise,
                "features": beside(plan.features, x),
            }
        )
    return lines
