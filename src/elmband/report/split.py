"""Groups of rows as lines of a table, those with most rows first."""

from collections.abc import Callable
from typing import Any

from elmband.report.tallies import ByLabel

# Groups with a line of their own.
MOST_GROUPS = 20

Line = dict[str, Any]


def split_lines(
    found: ByLabel, line: Callable[[Any], Line], name: str
) -> tuple[list[Line], dict[str, Any]]:
    """Return the lines of all groups, and what the page shows of them.

    `line` turns the sums of a group, of which the first is its number of rows, into what is told
    of it; the lowest group is the one with the least `high`. Groups with few rows are taken
    together.
    """
    order = sorted(range(len(found.labels)), key=lambda j: (-found.sums[j, 0], j))
    lines = [{"label": label_of(found.labels[j]), **line(found.sums[j])} for j in order]
    rest = order[MOST_GROUPS:]
    others = {"label": "all others", **line(found.sums[rest].sum(axis=0))} if rest else None
    return lines, {
        "name": name,
        "count": len(lines),
        "rows": lines[:MOST_GROUPS],
        "others": others,
        "n_others": len(rest),
        "lowest": min(lines, key=lambda line: (line["high"], line["label"])),
    }


def label_of(label: Any) -> str:
    """Write a label; whole numbers are often stored as floats.

    Examples
    --------
    >>> label_of(3.0), label_of(0.25), label_of("north")
    ('3', '0.25', 'north')
    """
    value = label.item() if hasattr(label, "item") else label
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return f"{value:g}" if isinstance(value, float) else str(value)
