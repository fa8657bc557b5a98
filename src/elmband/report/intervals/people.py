"""What happens if rows with wide intervals go to people."""

import math
from typing import Any

import numpy as np

from elmband.ground.wording import count, number, out_of, percent
from elmband.report.intervals.counts import Counts
from elmband.report.risk_coverage import risk_coverage

# Where all rows are answered, an error that is less by so much is rounding.
_ROUNDING = 1e-12


def people(counts: Counts, unit: str) -> dict[str, Any]:
    """Return what answering only narrow intervals does, for one share of rows after the other."""
    widest = np.maximum.accumulate(counts.step_widths.high)
    n, whole = float(counts.scores.n), float(counts.scores.totals.absolute[0])

    def told(k: int, so_far: list[float]) -> dict[str, Any]:
        rows, absolute, squared, held = so_far
        rest, error = n - rows, absolute / rows
        less = 1 - error / (whole / n) if whole else 0.0
        point = {
            "width": float(widest[k]),
            "error": error,
            "rmse": math.sqrt(squared / rows),
            "held": held / rows,
            "rest_error": (whole - absolute) / rest if rest else math.nan,
            "less": less if abs(less) > _ROUNDING else 0.0,
        }
        shares = {"share": rows / n, "n": rows, "rest": rest, "mean": whole / n}
        return {**point, "sentence": _sentence({**point, **shares}, unit)}

    return {**risk_coverage(counts.steps, n, told), "error": whole / n}


def _sentence(point: dict[str, Any], unit: str) -> str:
    text = (
        f"Answer {percent(point['share'])} of rows, those with intervals up to "
        f"{number(point['width'])}{unit} wide: mean error {number(point['error'])}{unit}"
    )
    if not point["rest"]:
        return f"{text}. No row goes to people. {_held(point)}"
    return (
        f"{text}, instead of {number(point['mean'])}{unit} for all rows. "
        f"{count(point['rest'])} rows go to people; the model would be off by "
        f"{number(point['rest_error'])}{unit} there. {_held(point)}"
    )


def _held(point: dict[str, Any]) -> str:
    return f"Of the intervals answered, {out_of(point['held'], point['n'])} held."
