"""What happens if uncertain rows go to people."""

import math
from typing import Any

import numpy as np

from elmband.ground.wording import count, number, percent
from elmband.report.classes.counts import Counts, Plan
from elmband.report.risk_coverage import risk_coverage
from elmband.report.shares import Share


def people(plan: Plan, counts: Counts, answered: float | None) -> dict[str, Any]:
    """Return what answering only certain rows does, for one share of rows after the other."""
    n, wrong, *_ = counts.steps.sums.sum(axis=0).tolist()
    least = np.minimum.accumulate(counts.step_scores.low)
    negatives = _negatives(plan, counts)

    def told(k: int, so_far: list[float]) -> dict[str, Any]:
        rows, bad, called, false = so_far
        measured, rest = Share.of(bad, rows), n - rows
        point = {
            "score": float(least[k]),
            "error": measured.share,
            **measured.margin,
            "n_wrong": round(bad),
            "rest_error": (wrong - bad) / rest if rest else math.nan,
            "fpr": false / negatives if negatives else None,
            "precision": 1 - false / called if negatives and called else None,
        }
        shares = {"share": rows / n, "rest": rest, "mean": wrong / n}
        return {**point, "sentence": _sentence(plan, {**point, **shares})}

    return {**risk_coverage(counts.steps, n, told, answered), "error": wrong / n}


def _negatives(plan: Plan, counts: Counts) -> float:
    """Return the number of rows that are not positive, 0 where no class is."""
    if plan.positive is None:
        return 0.0
    by_class = counts.by_class(len(plan.labels)).sum(axis=(1, 2))
    return float(by_class.sum() - by_class[plan.positive])


def _sentence(plan: Plan, point: dict[str, Any]) -> str:
    text = (
        f"Answer {percent(point['share'])} of rows, those with a certainty of at least "
        f"{number(point['score'])}: {percent(point['error'])} of the answers are wrong"
    )
    if point["rest"]:
        text += (
            f", instead of {percent(point['mean'])} for all rows. {count(point['rest'])} rows go "
            f"to people; the model would be wrong on {percent(point['rest_error'])} of them."
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
