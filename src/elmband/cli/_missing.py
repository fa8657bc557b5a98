"""Rows without a target: refused, or left out and counted."""

from typing import Any, Literal

from elmband.ground.wording import counted


def missing_target(*, drop: bool) -> Literal["refuse", "drop"]:
    """Return what a scan does with rows without a target."""
    return "drop" if drop else "refuse"


def dropped(rows: Any, used: float | None = None) -> int | None:
    """Return how many rows of a scan had no target; None where nobody has counted them.

    Workers count the rows that they have `used`.
    """
    count: int | None = rows.n_dropped
    if count is None and None not in (used, rows.n_rows):
        return int(rows.n_rows - round(used or 0))
    return count


def used_rows(rows: Any) -> int | None:
    """Return how many rows of a scan have a target, None where they were not counted."""
    count = dropped(rows)
    return None if rows.n_rows is None or count is None else rows.n_rows - count


def dropped_line(count: int | None) -> str:
    """Say how many rows were left out."""
    if count is None:
        return "Rows without a target are left out."
    return f"{counted(count, 'row')} without a target left out."
