"""What happens if rows with wide intervals go to people."""

import math
from typing import Any

import numpy as np

from elmband.ground.wording import count, number, out_of, percent
from elmband.report.intervals.counts import Seen

# Where the slider stands at first.
_START = 0.7
# The mean of fewer rows says nothing.
_LEAST_ROWS = 10

_ROUNDING = 1e-12


def people(seen: Seen, unit: str) -> dict[str, Any]:
    """Return what answering only narrow intervals does, for one share of rows after the other."""
    sums = np.cumsum(seen.steps.sums, axis=0)
    widest = np.maximum.accumulate(seen.step_widths.high)
    n = float(seen.scores.n)
    whole = float(seen.scores.totals.absolute[0])
    points: list[dict[str, Any]] = []
    for k, (rows, absolute, squared, held) in enumerate(sums.tolist()):
        if seen.steps.sums[k, 0] == 0 or rows < min(_LEAST_ROWS, n):
            continue
        rest = n - rows
        points.append(
            {
                "at": len(points),
                "share": rows / n,
                "n": round(rows),
                "rest": round(rest),
                "width": float(widest[k]),
                "error": absolute / rows,
                "rmse": math.sqrt(squared / rows),
                "held": held / rows,
                "rest_error": (whole - absolute) / rest if rest else math.nan,
            }
        )
    for point in points:
        less = 1 - point["error"] / (whole / n) if whole else 0.0
        # Where all rows are answered, rounding alone is left.
        point["less"] = less if abs(less) > _ROUNDING else 0.0
        point["sentence"] = _sentence(point, whole / n, unit)
    start = min(points, key=lambda point: abs(point["share"] - _START), default=None)
    return {"points": points, "start": start, "error": whole / n}


def _sentence(point: dict[str, Any], error: float, unit: str) -> str:
    text = (
        f"Answer {percent(point['share'])} of rows, those with intervals up to "
        f"{number(point['width'])}{unit} wide: mean error {number(point['error'])}{unit}"
    )
    if not point["rest"]:
        return f"{text}. No row goes to people. {_held(point)}"
    return (
        f"{text}, instead of {number(error)}{unit} for all rows. "
        f"{count(point['rest'])} rows go to people; the model would be off by "
        f"{number(point['rest_error'])}{unit} there. {_held(point)}"
    )


def _held(point: dict[str, Any]) -> str:
    return f"Of the intervals answered, {out_of(point['held'], point['n'])} held."
