"""Sums over blocks of rows for a report: sums and ranges in cells, and the most extreme rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from elmband.ground.arrays import Floats, Ints, Labels
from elmband.sums.moments import Moments
from elmband.sums.scaling import Extent

# A column with more distinct values than this names single rows rather than groups.
_MOST_GROUPS = 2000


def columns(*values: Any) -> Floats:
    """Put values of rows side by side, as numbers (n, k)."""
    return np.stack([np.asarray(column, dtype=np.float64) for column in values], axis=1)


@dataclass(frozen=True, eq=False)
class Cells(Moments):
    """Sums of several values (cells, values) over the rows of each cell."""

    sums: Floats

    @classmethod
    def of(cls, cell: Ints, values: Floats, count: int) -> Self:
        """Sum values (n, k) of rows that are in the cells (n,) or, each in several, (n, f)."""
        flat = cell.reshape(len(cell), -1)
        times = flat.shape[1]
        columns = [
            np.bincount(flat.ravel(), np.repeat(column, times), count) for column in values.T
        ]
        return cls(np.stack(columns, axis=1))


@dataclass(frozen=True, eq=False)
class Span(Extent):
    """The least and the largest value of every cell; infinite where there is none."""

    @classmethod
    def of(cls, cell: Ints, values: Floats, count: int) -> Self:
        """Return the ends of values in their cells, both (n,) or (n, f)."""
        low, high = np.full(count, np.inf), np.full(count, -np.inf)
        # A missing value is NaN, and makes both ends of its cell NaN.
        with np.errstate(invalid="ignore"):
            np.minimum.at(low, cell.ravel(), values.ravel())
            np.maximum.at(high, cell.ravel(), values.ravel())
        return cls(low, high)


@dataclass(frozen=True, eq=False)
class Extremes(Moments):
    """The rows with the largest keys, of equal ones the first; with values (k, columns) of each."""

    size: int
    keys: Floats
    numbers: Ints
    values: Floats

    @classmethod
    def of(cls, size: int, keys: Floats, numbers: Ints, values: Floats) -> Self:
        """Pick the extreme rows of a block; rows whose key is NaN are left out."""
        some = np.flatnonzero(~np.isnan(keys))
        return cls(size, keys[some], numbers[some], values[some]).cut()

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.size,
            np.concatenate([self.keys, other.keys]),
            np.concatenate([self.numbers, other.numbers]),
            np.concatenate([self.values, other.values]),
        ).cut()

    def cut(self) -> Self:
        """Keep no more rows than `size`, the most extreme first."""
        order = np.lexsort((self.numbers, -self.keys))[: self.size]
        return type(self)(self.size, self.keys[order], self.numbers[order], self.values[order])


@dataclass(frozen=True, eq=False)
class ByLabel(Moments):
    """Sums of several values over the rows of each label; labels are sorted, missing ones last.

    `low` and `high` are the least and the largest of numbers that rows of a label stand for.
    """

    labels: Labels
    sums: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, labels: Labels, values: Floats, numbers: Floats | None = None) -> Self:
        """Sum values (n, k) of rows with these labels, which may be NaN or NaT."""
        known, owner = _unique(labels)
        owner = owner.reshape(-1)
        numbers = np.full(len(labels), np.nan) if numbers is None else numbers
        ends = Span.of(owner, numbers, len(known))
        sums = Cells.of(owner, values, len(known)).sums
        return cls(known, sums, ends.low, ends.high)

    def __add__(self, other: Self) -> Self:
        known, owner = _unique(np.concatenate([self.labels, other.labels]))
        owner = owner.reshape(-1)
        sums = Cells.of(owner, np.concatenate([self.sums, other.sums]), len(known)).sums
        low = Span.of(owner, np.concatenate([self.low, other.low]), len(known)).low
        high = Span.of(owner, np.concatenate([self.high, other.high]), len(known)).high
        return type(self)(known, sums, low, high)


def _unique(labels: Labels) -> tuple[Labels, Ints]:
    try:
        known, owner = np.unique(labels, return_inverse=True)
    except TypeError as error:
        raise ValueError("group mixes types; convert its labels to text.") from error
    if len(known) > _MOST_GROUPS:
        raise ValueError(
            f"group has more than {_MOST_GROUPS:,} labels, so that a page could not show "
            "them; choose a column with fewer."
        )
    return known, owner
