"""Products of rows with few marks: of a one-hot block one row of W is all that counts.

Text becomes a column of marks for every level, and a row has one of them. With l the lowest values
of such columns, g how far the marks are above them, and j(1), j(2), ... the marks that a row has,
its product with W is

    zW = z' W' + lW'' + g_j(1) w_j(1) + g_j(2) w_j(2) + ...

with z' and W' the other columns and W'' the rows of the marked ones: a few additions in place of a
hundred products. Columns are known by their values alone, block by block of rows.
"""

from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

Matrix: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Places: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]

# Fewer rows or columns are multiplied as they are.
_LEAST_ROWS, _LEAST_COLUMNS = 128, 32
# A column of marks has its lower value in all but this share of the rows.
_MOST_MARKED = 0.3
# Columns with other values in more than this share of the rows hold no marks, and so many rows may
# have more marks than are added up.
_STRANGE, _CROWDED = 0.01, 0.02
# Lowest values lie at most so many times as far out as the greatest, or as one. A value of -1e30
# for what was not measured, added to a row and taken away again, would leave only rounding of it.
_FARTHEST = 100.0
# Adding the row of a mark takes as long as the products of so many columns.
_COLUMNS_PER_MARK = 12
# A few rows tell of most tables that there are no marks.
_LOOKED_AT = 64
# Rows whose products stay near the processor.
_ROWS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class MarkedRows:
    """Rows Z (n, d), of which some columns hold marks.

    `marked` are these columns, at `low` but where a row has a mark, where they are at `high`.
    `places` (n, k) tell which of them each row has, the number of them standing for none, and
    `others` are the other columns. Rows that are `strange` do not follow this.
    """

    Z: Matrix
    others: Places
    marked: Places
    low: Matrix
    high: Matrix
    places: Places
    strange: Places

    @classmethod
    def of(cls, Z: Matrix) -> Self | None:
        """Find the marks of rows, or None where there are too few to be worth it."""
        n, d = Z.shape
        if n < _LEAST_ROWS or d < _LEAST_COLUMNS or _looks_dense(Z[:_LOOKED_AT]):
            return None
        low, high = Z.min(axis=0), Z.max(axis=0)
        above = low != Z
        # Sums of bytes are several times as fast as counts.
        rare = np.add.reduce(above.view(np.uint8), axis=0, dtype=np.int64) <= _MOST_MARKED * n
        rare &= np.abs(low) <= _FARTHEST * np.maximum(np.abs(high), 1.0)
        marked = np.flatnonzero(rare)
        if len(marked) < _COLUMNS_PER_MARK:
            return None
        above &= rare
        row, column = np.divmod(np.flatnonzero(above), d)
        column = np.searchsorted(marked, column)
        odd = Z[row, marked[column]] != high[marked[column]]
        usual = np.bincount(column[odd], minlength=len(marked)) <= _STRANGE * n
        if not usual.all():
            kept = usual[column]
            row, column, odd = row[kept], (np.cumsum(usual) - 1)[column[kept]], odd[kept]
            marked = marked[usual]
        counts = np.bincount(row, minlength=n)
        most = int(np.sort(counts)[n - 1 - int(_CROWDED * n)])
        if len(marked) < _COLUMNS_PER_MARK * (most + 1):
            return None
        places = np.full((n, most), len(marked))
        number = np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
        near = number < most
        places[row[near], number[near]] = column[near]
        others = np.ones(d, bool)
        others[marked] = False
        strange = np.union1d(np.flatnonzero(counts > most), row[odd])
        ends = low[marked], high[marked]
        return cls(Z, np.flatnonzero(others), marked, *ends, places, strange)

    def times(self, W: Matrix, out: Matrix | None = None) -> Matrix:
        """Return ZW (n, L)."""
        found = np.empty((len(self.Z), W.shape[1]), W.dtype) if out is None else out
        # One more row for no mark.
        added = np.zeros((len(self.marked) + 1, W.shape[1]), W.dtype)
        np.multiply(W[self.marked], (self.high - self.low)[:, None], out=added[:-1])
        beside, base = W[self.others], self.low @ W[self.marked]
        narrow = self.Z[:, self.others]
        near = np.empty((min(_ROWS_AT_ONCE, len(self.Z)), W.shape[1]), W.dtype)
        for start in range(0, len(self.Z), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            here = found[part]
            np.matmul(narrow[part], beside, out=here)
            here += base
            for places in self.places[part].T:
                # Places are within bounds; without the mode NumPy would buffer the output.
                here += np.take(added, places, axis=0, out=near[: len(here)], mode="clip")
        if len(self.strange):
            found[self.strange] = self.Z[self.strange] @ W
        return found


def _looks_dense(Z: Matrix) -> bool:
    """Tell whether few columns have one value nearly everywhere."""
    same = np.count_nonzero(Z.min(axis=0) == Z, axis=0) >= (1 - _MOST_MARKED) * len(Z)
    return int(np.count_nonzero(same)) < _COLUMNS_PER_MARK
