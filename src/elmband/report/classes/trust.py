"""Where the model is right and where it answers, along every feature and in every group."""

from typing import Any

from elmband.report.classes.seen import Plan, Seen
from elmband.report.shares import Share
from elmband.report.split import split_lines
from elmband.report.tallies import ByLabel
from elmband.report.wording import percent


def bins(plan: Plan, seen: Seen) -> list[dict[str, Any]]:
    """Return one line for every bin of every feature; bins without rows are left out."""
    lines = []
    for cell, (feature, place) in enumerate(plan.features.owners):
        if seen.bins.sums[cell, 0] == 0:
            continue
        low, high = float(seen.spans.low[cell]), float(seen.spans.high[cell])
        where = {
            "feature": feature,
            "bin": place,
            "label": plan.features.axes[feature].label(low, high),
        }
        lines.append({**where, "from": low, "to": high, **_line(seen.bins.sums[cell])})
    return lines


def _line(sums: Any) -> dict[str, Any]:
    n, hits, answered, wrong = (float(value) for value in sums)
    measured = Share.of(hits, n)
    return {
        "n": round(n),
        "right": measured.share,
        "low": measured.low,
        "high": measured.high,
        "answered": answered / n,
        "error": wrong / answered if answered else None,
    }


def features(plan: Plan, lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what can be said of every feature, in a sentence each."""
    found = []
    for k, axis in enumerate(plan.features.axes):
        mine = [line for line in lines if line["feature"] == k]
        # What is surely so: a few rows may all be right by chance.
        best = max(mine, key=lambda line: line["low"])
        least = min(mine, key=lambda line: line["high"])
        found.append(
            {
                "name": axis.name,
                "best": best,
                "least": least,
                "sentence": _sentence(plan, axis.name, best, least),
            }
        )
    return found


def _sentence(plan: Plan, name: str, best: Any, least: Any) -> str:
    if best is least:
        return f"{name} is the same in all rows, and tells nothing."
    text = (
        f"Most labels are right where {name} is {best['label']}, {percent(best['right'])}; fewest "
        f"where it is {least['label']}, {percent(least['right'])}."
    )
    if plan.abstains:
        text += (
            f" The model answers {percent(best['answered'])} of the rows there, and "
            f"{percent(least['answered'])} here."
        )
    return text


def groups(found: ByLabel, name: str) -> dict[str, Any]:
    """Return how often the model is right in each group, those with most rows first."""
    return split_lines(found, _line, name)[1]
