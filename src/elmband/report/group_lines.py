"""Groups of rows as lines of a table: numbers and dates in their order, others by their rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from elmband.report.bins import spans_apart, with_empty
from elmband.report.group_levels import Cut, gaps_before, is_missing
from elmband.report.tallies import ByLabel

# Groups with a line of their own.
MOST_GROUPS = 20

Line = dict[str, Any]


def split_lines(found: ByLabel, line: Callable[[Any], Line], name: str, cut: Cut) -> dict[str, Any]:
    """Return what the page shows of groups.

    `line` turns the sums of a group, of which the first is its number of rows, into what is told
    of it; the lowest group is the one with the least `high` among those with a verdict. Groups
    with few rows are taken together, but for those that fall short. What is missing comes last.
    """
    order = sorted(range(len(found.labels)), key=lambda j: _place(found, cut, j))
    lines = [_named(found, cut, j) | line(found.sums[j]) for j in order]
    shown = list(range(len(lines))) if cut.ordered else _shown(lines)
    rest = [j for k, j in enumerate(order) if k not in set(shown)]
    others = {"label": "all others", **line(found.sums[rest].sum(axis=0))} if rest else None
    judged = [line for line in lines if line["verdict"] is not None]
    return {
        "name": name,
        "count": len(lines),
        "rows": _with_gaps(lines, found, cut) if cut.ordered else [lines[k] for k in shown],
        "others": others,
        "n_others": len(rest),
        "lowest": min(judged, key=lambda line: (line["high"], line["label"]), default=None),
        "n_below": sum(line["verdict"] == "broken" for line in judged),
        "n_unclear": sum(line["verdict"] == "unclear" for line in judged),
        "n_single": len(lines) - len(judged),
    }


def _shown(lines: list[Line]) -> list[int]:
    """Return the places of groups with a line: those of most rows, and all that fall short.

    Of very many that do, the lowest.
    """
    short = [k for k in range(MOST_GROUPS, len(lines)) if lines[k]["verdict"] == "broken"]
    lowest = sorted(short, key=lambda k: (lines[k]["high"], k))[:MOST_GROUPS]
    return [*range(min(MOST_GROUPS, len(lines))), *sorted(lowest)]


def _place(found: ByLabel, cut: Cut, j: int) -> tuple[bool, float, int]:
    missing = is_missing(found.labels[j])
    return (missing, j if cut.ordered else -found.sums[j, 0], j)


def _named(found: ByLabel, cut: Cut, j: int) -> Line:
    return {"label": cut.name(found.labels[j], float(found.low[j]), float(found.high[j]))}


def _with_gaps(lines: list[Line], found: ByLabel, cut: Cut) -> list[Line]:
    """Put a line without rows where evenly spaced values have a gap."""
    known = np.array([not is_missing(code) for code in found.labels])
    codes, gaps = found.labels[known], []
    if cut.edges is not None:
        spans = zip(found.low[known].tolist(), found.high[known].tolist(), strict=True)
        gaps = spans_apart(list(spans))
    elif codes.dtype.kind in "fiuM":
        gaps = gaps_before(codes, cut.unit)
    return with_empty(lines, gaps, dict.fromkeys(lines[0]) | {"label": "no rows", "n": 0})
