"""What the model promises, and whether it keeps it."""

from functools import partial
from typing import Any

from elmband.report.intervals.seen import Plan, Seen
from elmband.report.shares import Share
from elmband.report.split import split_lines
from elmband.report.tallies import ByLabel

# Levels of the table, besides the one asked for; the chart has more.
_TABLE = (0.5, 0.8, 0.9, 0.95, 0.99)


def promise(plan: Plan, seen: Seen) -> dict[str, Any]:
    """Compare levels with the shares of intervals that held their target."""
    totals, n = seen.scores.totals, seen.scores.n
    levels = []
    for k, level in enumerate(plan.levels):
        measured = Share.of(float(totals.inside[0, k]), n)
        levels.append(
            {
                "level": level,
                "held": measured.share,
                "low": measured.low,
                "high": measured.high,
                "verdict": measured.verdict(level),
                "width": float(totals.width[0, k]) / n,
                "table": level in _TABLE or level == plan.level,
            }
        )
    return {"levels": levels, "at": levels[plan.at]}


def groups(plan: Plan, found: ByLabel, name: str) -> dict[str, Any]:
    """Return how often intervals held in each group, those with most rows first."""
    lines, shown = split_lines(found, partial(_group, plan.level), name)
    return {**shown, "n_broken": sum(line["broken"] for line in lines)}


def _group(level: float, sums: Any) -> dict[str, Any]:
    n, held, error, width = (float(value) for value in sums)
    measured = Share.of(held, n)
    return {
        "n": round(n),
        "held": measured.share,
        "low": measured.low,
        "high": measured.high,
        "broken": Share.falls_short(held, n, level),
        "error": error / n,
        "width": width / n,
    }
