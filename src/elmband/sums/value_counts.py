"""Different targets, counted as long as they are few."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from elmband.ground.arrays import Array, Floats, double, to_numpy
from elmband.sums.moments import Moments

# Different values beyond which targets have many.
MOST_VALUES = 64
# Rows that are looked at first: they mostly show that values are many.
_GLANCE = 1000
# Values are few only if there are this many rows for each, and in all, and if at most this share of
# rows has a value of its own: by Good and Turing, that share estimates how many new rows will have
# a value that no training row has.
_ROWS_PER_VALUE = 20
_LEAST_ROWS = 200
_MOST_ALONE = 0.001
# The least step between values, as a share of the largest: closer ones differ by rounding.
_LEAST_STEP = 1e-9
# Least share of rows at the least or greatest value that makes it an end of the range.
_AT_END = 0.02


@dataclass(frozen=True, eq=False)
class ValueCounts(Moments):
    """Different targets of every output in ascending order, and the number of rows of each.

    Both are (65, m), with counts of zero where there are fewer. Where there are more than 64 the
    last count is not zero, and which values there are means nothing.
    """

    values: Floats
    counts: Floats

    def __add__(self, other: Self) -> Self:
        pairs = zip(self.values.T, self.counts.T, other.values.T, other.counts.T, strict=True)
        found = [_counted(np.r_[a, b], np.r_[n, k]) for a, n, b, k in pairs]
        return type(self)(*(np.stack(part, axis=1) for part in zip(*found, strict=True)))

    def few(self) -> tuple[tuple[float, ...], ...]:
        """Return the values of every output, none where they are many or not all are known."""
        return tuple(
            _believed(v[n > 0], n[n > 0]) for v, n in zip(self.values.T, self.counts.T, strict=True)
        )

    def ends(self) -> tuple[tuple[float, float], ...]:
        """Return where few values of an output end: at a value of many rows, else nowhere."""
        found = []
        for values, counts in zip(self.few(), self.counts.T, strict=True):
            often = counts[: len(values)] >= _AT_END * counts.sum()
            low = values[0] if values and often[0] else -np.inf
            found.append((low, values[-1] if values and often[-1] else np.inf))
        return tuple(found)


def value_counts(Y: Array) -> ValueCounts:
    """Count the different targets (n, m) of one chunk."""
    found = []
    some = min(_GLANCE, int(Y.shape[0]))
    for j in range(int(Y.shape[1])):
        glance = to_numpy(double(Y[:some, j]))
        many = len(np.unique(glance)) > MOST_VALUES
        column = glance if many else to_numpy(double(Y[:, j]))
        found.append(_counted(column, np.ones(len(column))))
    return ValueCounts(*(np.stack(part, axis=1) for part in zip(*found, strict=True)))


def _counted(values: Floats, counts: Floats) -> tuple[Floats, Floats]:
    """Join equal values; of more than 65 the least ones."""
    there = counts > 0
    names, owner = np.unique(values[there], return_inverse=True)
    sums = np.bincount(owner.reshape(-1), counts[there], len(names))
    count = min(len(names), MOST_VALUES + 1)
    out = np.zeros(MOST_VALUES + 1), np.zeros(MOST_VALUES + 1)
    out[0][:count], out[1][:count] = names[:count], sums[:count]
    return out


def _believed(values: Floats, counts: Floats) -> tuple[float, ...]:
    """Return values if there are few, each of many rows on average, and hardly any new ones."""
    n = counts.sum()
    enough = n >= max(_LEAST_ROWS, _ROWS_PER_VALUE * len(values))
    known = (counts == 1).sum() <= _MOST_ALONE * n
    few = 2 <= len(values) <= MOST_VALUES
    if not (few and enough and known):
        return ()
    apart = np.diff(values / np.abs(values).max()).min() > _LEAST_STEP
    return tuple(values.tolist()) if apart else ()
