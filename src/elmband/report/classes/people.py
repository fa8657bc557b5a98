"""What happens if uncertain rows go to people."""

import math
from typing import Any

import numpy as np

from elmband.ground.wording import count, number, percent
from elmband.report.classes.counts import Plan, Seen
from elmband.report.shares import Share

# Where the slider stands at first, if the model has no threshold of its own.
_START = 0.7
# The share of fewer rows says nothing.
_LEAST_ROWS = 10


def people(plan: Plan, seen: Seen, answered: float | None) -> dict[str, Any]:
    """Return what answering only certain rows does, for one share of rows after the other."""
    sums = np.cumsum(seen.steps.sums, axis=0)
    least = np.minimum.accumulate(seen.step_scores.low)
    n, wrong = float(sums[-1, 0]), float(sums[-1, 1])
    negatives = _negatives(plan, seen)
    points: list[dict[str, Any]] = []
    for k, (rows, bad, called, false) in enumerate(sums.tolist()):
        if seen.steps.sums[k, 0] == 0 or rows < min(_LEAST_ROWS, n):
            continue
        measured, rest = Share.of(bad, rows), n - rows
        points.append(
            {
                "at": len(points),
                "share": rows / n,
                "n": round(rows),
                "rest": round(rest),
                "score": float(least[k]),
                "error": measured.share,
                "low": measured.low,
                "high": measured.high,
                "n_wrong": round(bad),
                "rest_error": (wrong - bad) / rest if rest else math.nan,
                "fpr": false / negatives if negatives else None,
                "precision": 1 - false / called if negatives and called else None,
            }
        )
    for point in points:
        point["sentence"] = _sentence(plan, point, wrong / n)
    wanted = _START if answered is None else answered
    start = min(points, key=lambda point: abs(point["share"] - wanted))
    return {"points": points, "start": start, "error": wrong / n}


def _negatives(plan: Plan, seen: Seen) -> float:
    """Return the number of rows that are not positive, 0 where no class is."""
    if plan.positive is None:
        return 0.0
    by_class = seen.counts(len(plan.labels)).sum(axis=(1, 2))
    return float(by_class.sum() - by_class[plan.positive])


def _sentence(plan: Plan, point: dict[str, Any], error: float) -> str:
    text = (
        f"Answer {percent(point['share'])} of rows, those with a certainty of at least "
        f"{number(point['score'])}: {percent(point['error'])} of the answers are wrong"
    )
    if point["rest"]:
        text += (
            f", instead of {percent(error)} for all rows. {count(point['rest'])} rows go to "
            f"people; the model would be wrong on {percent(point['rest_error'])} of them."
        )
    else:
        text += ". No row goes to people."
    if plan.positive is not None and point["precision"] is not None:
        label = plan.labels[plan.positive]
        text += (
            f" Of the answers {label}, {percent(point['precision'])} are right; of all rows that "
            f"are not {label}, {percent(point['fpr'])} are answered {label}."
        )
    return text
