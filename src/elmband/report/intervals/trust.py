"""Where the model can be trusted: widths, errors and coverage along every feature."""

from typing import Any

import numpy as np

from elmband.ground.wording import number, percent
from elmband.report.bins import bin_lines, of_features
from elmband.report.intervals.counts import Counts, Plan
from elmband.report.shares import judged


def bins(plan: Plan, counts: Counts) -> list[dict[str, Any]]:
    """Return one line for every bin of every feature."""
    width = plan.widths.medians(counts.widths.sums)
    error = plan.errors.medians(counts.errors.sums)

    def line(cell: int, parts: int) -> dict[str, Any]:
        n, held, absolute, noise, unknown = (float(value) for value in counts.bins.sums[cell])
        return {
            "n": round(n),
            "width": float(width[cell]),
            "error": float(error[cell]),
            "mean_error": absolute / n,
            # The margins of all bins of a feature hold together.
            **judged("held", held, n, plan.level, parts),
            "noise": noise / n,
            "unknown": unknown / n,
        }

    return bin_lines(plan.features, counts.bins, counts.spans, line)


def features(plan: Plan, lines: list[dict[str, Any]], unit: str) -> list[dict[str, Any]]:
    """Return what can be said of every feature, in a sentence each."""
    found = []
    for name, mine in of_features(plan.features, lines):
        narrow = min(mine, key=lambda line: line["width"])
        wide = max(mine, key=lambda line: line["width"])
        least = min(mine, key=lambda line: line["high"])
        found.append(
            {
                "name": name,
                "narrow": narrow,
                "wide": wide,
                "ratio": wide["width"] / narrow["width"] if narrow["width"] else np.inf,
                "least": least,
                "sentence": _sentence(name, len(mine), (narrow, wide, least), unit),
            }
        )
    return found


def overall(plan: Plan, counts: Counts) -> dict[str, float]:
    """Return the median width and error of all rows: bins of any one feature are all of them."""
    first = slice(0, plan.features.counts[0])
    return {
        "width": float(plan.widths.medians(counts.widths.sums[first].sum(axis=0)[None])[0]),
        "error": float(plan.errors.medians(counts.errors.sums[first].sum(axis=0)[None])[0]),
    }


def variance_parts(plan: Plan, counts: Counts) -> dict[str, Any]:
    """Return the shares of noise and of too little data in the variance of an average row."""
    first = counts.bins.sums[: plan.features.counts[0]].sum(axis=0)
    return {"noise": float(first[3] / first[0]), "unknown": float(first[4] / first[0])}


def _sentence(name: str, n_parts: int, lines: tuple[Any, Any, Any], unit: str) -> str:
    narrow, wide, least = lines
    if n_parts == 1:
        return f"{name} is the same in all rows, and tells nothing."
    text = (
        f"Intervals are about as wide wherever {name} is: typically "
        f"{number(narrow['width'])}{unit}."
        if narrow["width"] == wide["width"]
        else f"Intervals are narrowest where {name} is {narrow['label']} (typically "
        f"{number(narrow['width'])}{unit} wide, error {number(narrow['error'])}{unit}) and widest "
        f"where it is {wide['label']} ({number(wide['width'])}{unit} wide, error "
        f"{number(wide['error'])}{unit})."
    )
    if least["verdict"] == "broken":
        text += (
            f" Beware where {name} is {least['label']}: only {percent(least['held'])} of the "
            "intervals held."
        )
    return text
