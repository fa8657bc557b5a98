"""Levels: a whole number for every row, by one column of a table.

A column is a one-hot block, whose mark tells the level, or a number cut into bins: the values that
it takes, quantiles, or the days, weeks and months of a date. A row may have no level that training
rows had; it has the number of levels then, which is one past the last.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# What stands between a mark and none, whatever unseen levels are written as.
MARKED = 0.99


@dataclass(frozen=True)
class MarkLevels:
    """Levels by the columns of a one-hot block, from `start` up to `stop`."""

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise ValueError("a block of marks has no columns")

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return self.stop - self.start

    def places(self, X: Array) -> Array:
        """Return the level of every row, (n,)."""
        xp = namespace(X)
        marks = X[:, self.start : self.stop]
        found = xp.argmax(marks, axis=1)
        return xp.where(xp.max(marks, axis=1) >= MARKED, found, self.n_levels)


@dataclass(frozen=True, eq=False)
class BinLevels:
    """Levels by a column of numbers: level k begins at `edges[k]`, and the last ends with the last.

    Numbers outside have none.
    """

    column: int
    edges: Floats

    def __post_init__(self) -> None:
        if self.column < 0 or len(self.edges) < 2 or not (np.diff(self.edges) > 0).all():
            raise ValueError("edges of levels do not rise")

    @property
    def n_levels(self) -> int:
        """How many levels there are."""
        return len(self.edges) - 1

    def places(self, X: Array) -> Array:
        """Return the level of every row, (n,)."""
        # A column of its own: searches are slow, or warn, where numbers lie apart.
        x = double(X[:, self.column]) + 0.0
        xp = namespace(x)
        edges = place(self.edges, x)
        found = xp.searchsorted(edges, x, side="right") - 1
        # The last edge belongs to the last level.
        found = xp.where(x == edges[-1], self.n_levels - 1, found)
        known = (x >= edges[0]) & (x <= edges[-1])
        return xp.where(known, found, self.n_levels)


Levels: TypeAlias = MarkLevels | BinLevels


class Block(NamedTuple):
    """The columns of a one-hot block, from `start` up to `stop`."""

    start: int
    stop: int


def one_hot_blocks(X: Array) -> list[Block]:
    """Find runs of two or more columns of which every row has exactly one at 1, the others at 0.

    Columns of zeros behind such a run belong to it: of a rare level no row may be there.

    >>> one_hot_blocks(np.array([[7, 1, 0, 0, 1], [8, 0, 1, 1, 0]]))
    [Block(start=1, stop=3), Block(start=3, stop=5)]
    """
    xp = namespace(X)
    n = X.shape[0]
    binary = to_numpy(xp.all((X == 0) | (X == 1), axis=0))
    ones = to_numpy(xp.sum(xp.astype(X != 0, xp.int64), axis=0))
    # The marks of a block are as many as rows. No run with another column has just so many.
    ends = np.concatenate([[0], np.cumsum(np.where(binary, ones, n + 1))])
    blocks, start = [], 0
    while start < len(ones):
        stop = int(np.searchsorted(ends, ends[start] + n))
        whole = stop < len(ends) and ends[stop] == ends[start] + n and stop > start + 1
        if whole and is_one_hot(X[:, start:stop]):
            stop = int(np.searchsorted(ends, ends[stop], side="right")) - 1
            blocks.append(Block(start, stop))
            start = stop
        else:
            start += 1
    return blocks


def is_one_hot(X: Array) -> bool:
    """Tell whether every row has exactly one column at 1 and the others at 0."""
    xp = namespace(X)
    return bool(xp.all((X == 0) | (X == 1))) and bool(xp.all(xp.sum(X, axis=1) == 1))
