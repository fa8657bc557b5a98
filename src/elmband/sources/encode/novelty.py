"""How far new rows of a table leave what the fit of the encoder has seen, column by column.

A row lies beyond the fit where one of its numbers or dates lies outside the range of the fit, and
far beyond where that is by more than the whole range. Rows of the same kind do so by chance: of n
rows, the least and the largest of a column are two, so that a new row leaves the range of d columns
with a probability of 2d / (n + 1) at most.
"""

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from elmband.sources.encode.raw import RawRows, at
from elmband.sources.encode.state import EncoderState, LevelsColumn, NumberColumn, UsedColumn
from elmband.sums.moments import Moments

# Standard deviations of a count beyond which it is more than chance.
_BEYOND_CHANCE = 4


@dataclass(frozen=True, eq=False)
class Novelty(Moments):
    """Counts over new rows, which add up.

    Attributes
    ----------
    n : int
        Rows.
    rows_beyond, rows_far, rows_unseen, rows_new : int
        Those beyond the range of the fit, far beyond it, with values that the fit had none of, and
        with such values that are no missing numbers, of which the encoder warns itself.
    beyond, unseen : Counter of str
        Values of each column that are beyond the range, or that the fit had none of; columns
        without such are not listed.
    """

    n: int
    rows_beyond: int = 0
    rows_far: int = 0
    rows_unseen: int = 0
    rows_new: int = 0
    beyond: Counter[str] = field(default_factory=Counter)
    unseen: Counter[str] = field(default_factory=Counter)

    def is_beyond_chance(self, state: EncoderState) -> bool:
        """Tell whether more rows leave the range of the fit than rows of the same kind would.

        That is where their number is above m + 4 √v, with the mean m = 2dN / (n + 1) for N new
        rows; or where a single row is far beyond. Whether a new row leaves is chance, and so are
        the ranges themselves, whose share outside has a squared coefficient of variation of 1/2:
        v = m + m² / (2d).
        """
        d = sum(not isinstance(column, LevelsColumn) for column in state.used)
        if d == 0:
            return False
        mean = 2 * d * self.n / (state.n_rows + 1)
        most = mean + _BEYOND_CHANCE * math.sqrt(mean + mean**2 / (2 * d))
        return self.rows_far > 0 or self.rows_beyond > most


def novelty_of(state: EncoderState, rows: Iterable[RawRows]) -> Novelty:
    """Count what is new in some rows of a table."""
    total = Novelty(0)
    for part in rows:
        total = total + _of_part(state, part)
    return total


def _of_part(state: EncoderState, part: RawRows) -> Novelty:
    n = part.where.n_rows
    marks = {kind: np.zeros(n, dtype=bool) for kind in ("beyond", "far", "unseen", "new")}
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in marks}
    for column in state.used:
        with at(part.where, column.name):
            raw = state.read(column, part.columns[column.name])
            found = {"unseen": column.unseen(raw)}
            if not tells_of_gaps(column):
                found["new"] = found["unseen"]
            if not isinstance(column, LevelsColumn):
                found["beyond"], found["far"] = column.beyond(raw)
        for kind, mark in found.items():
            marks[kind] |= mark
            counts[kind][column.name] = int(np.count_nonzero(mark))
    beyond, far, unseen, new = (int(np.count_nonzero(mark)) for mark in marks.values())
    # Columns without such values are dropped by the sign.
    return Novelty(n, beyond, far, unseen, new, +counts["beyond"], +counts["unseen"])


def tells_of_gaps(column: UsedColumn) -> bool:
    """Tell whether the encoder itself warns of missing values of a column where it fills them."""
    return isinstance(column, NumberColumn) and column.varies
