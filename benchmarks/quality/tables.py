"""Tables in Markdown, and numbers that may be missing."""

from collections.abc import Iterable, Sequence

import numpy as np


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, a line for each row."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def text(value: float, form: str) -> str:
    """Return a number in its form, or a dash where there is none."""
    return "-" if np.isnan(value) else form.format(value)
