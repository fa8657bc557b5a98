"""What the model promises, and whether it keeps it."""

from functools import partial
from typing import Any

from elmband.report.group_levels import Cut
from elmband.report.group_lines import split_lines
from elmband.report.intervals.counts import Counts, Plan
from elmband.report.shares import Share, judged
from elmband.report.tallies import ByLabel

# Levels of the table, besides the one asked for; the chart has more.
_TABLE = (0.5, 0.8, 0.9, 0.95, 0.99)


def promise(plan: Plan, counts: Counts) -> dict[str, Any]:
    """Compare levels with the shares of intervals that held their target."""
    totals, n = counts.scores.totals, counts.scores.n
    levels = []
    for k, level in enumerate(plan.levels):
        measured = Share.of(float(totals.inside[0, k]), n)
        levels.append(
            {
                "level": level,
                "held": measured.share,
                **measured.margin,
                "verdict": measured.verdict(level),
                "width": float(totals.width[0, k]) / n,
                "table": level in _TABLE or level == plan.level,
            }
        )
    return {"levels": levels, "at": levels[plan.at]}


def groups(plan: Plan, found: ByLabel, name: str, cut: Cut) -> dict[str, Any]:
    """Return how often intervals held in each group; all margins hold together."""
    return split_lines(found, partial(_group, plan.level, len(found.labels)), name, cut)


def _group(level: float, looks: int, sums: Any) -> dict[str, Any]:
    n, held, error, width = (float(value) for value in sums)
    fields = judged("held", held, n, level, looks)
    return {"n": round(n), **fields, "error": error / n, "width": width / n}
