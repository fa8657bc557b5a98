"""Single rows: the surest mistakes, and the least certain answers."""

from typing import Any

from elmband.report.classes.counts import Plan
from elmband.report.single import beside
from elmband.report.tallies import Extremes


def single_rows(plan: Plan, found: Extremes) -> list[dict[str, Any]]:
    """Return the rows of a table, with the values of the features that matter most."""
    labels = plan.labels
    return [
        {
            "row": row,
            "true": labels[int(true)],
            "called": labels[int(called)],
            "score": score,
            "probability": probability,
            "features": beside(plan.features, x),
        }
        for row, (true, called, score, probability, *x) in zip(
            found.numbers.tolist(), found.values.tolist(), strict=True
        )
    ]
