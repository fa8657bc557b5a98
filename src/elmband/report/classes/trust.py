"""Where the model is right and where it answers, along every feature and in every group."""

from functools import partial
from typing import Any

import numpy as np

from elmband.ground.wording import percent
from elmband.report.bins import bin_lines, of_features
from elmband.report.classes.counts import Counts, Plan
from elmband.report.group_levels import Cut
from elmband.report.group_lines import split_lines
from elmband.report.shares import judged
from elmband.report.tallies import ByLabel


def bins(plan: Plan, counts: Counts) -> list[dict[str, Any]]:
    """Return one line for every bin of every feature."""
    whole = counts.by_class(len(plan.labels)).sum(axis=2)
    level = float(np.trace(whole) / whole.sum())

    def line(cell: int, parts: int) -> dict[str, Any]:
        return _line(level, parts, counts.bins.sums[cell])

    return bin_lines(plan.features, counts.bins, counts.spans, line)


def _line(level: float, looks: int, sums: Any) -> dict[str, Any]:
    """Return what is told of one of several parts, judged beside the share of all rows."""
    n, hits, answered, wrong = (float(value) for value in sums)
    return {
        "n": round(n),
        **judged("right", hits, n, level, looks),
        "answered": answered / n,
        "error": wrong / answered if answered else None,
    }


def features(plan: Plan, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what can be said of every feature, in a sentence each."""
    found = []
    for name, mine in of_features(plan.features, lines):
        # By the ends of margins: a few rows may all be right by chance.
        best = max(mine, key=lambda line: line["low"])
        least = min(mine, key=lambda line: line["high"])
        found.append(
            {
                "name": name,
                "best": best,
                "least": least,
                "apart": best is not least,
                "sentence": _sentence(plan, name, mine, best, least),
            }
        )
    return found


def _sentence(plan: Plan, name: str, parts: list[Any], best: Any, least: Any) -> str:
    if len(parts) == 1:
        return f"{name} is the same in all rows, and tells nothing."
    if best is least:
        return (
            f"Labels are right about as often wherever {name} is: no part of the rows stands out."
        )
    text = (
        f"Most labels are right where {name} is {best['label']}, {percent(best['right'])}; fewest "
        f"where it is {least['label']}, {percent(least['right'])}."
    )
    if plan.abstains:
        text += (
            f" The model answers {percent(best['answered'])} of the former rows, and "
            f"{percent(least['answered'])} of the latter."
        )
    return text


def groups(found: ByLabel, name: str, cut: Cut, level: float) -> dict[str, Any]:
    """Return how often the model is right in each group; all margins hold together."""
    return split_lines(found, partial(_line, level, len(found.labels)), name, cut)
