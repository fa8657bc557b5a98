"""Numbers and tables as Markdown."""

import math
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float) -> str:
    """Write a number with three digits, of large ones all before the point."""
    if math.isnan(value):
        return "-"
    return f"{value:.3g}" if abs(value) < 100 else f"{value:,.0f}"


def percent(share: float | None) -> str:
    """Write a share in per cent, without the sign."""
    return number(math.nan if share is None else 100 * share)
