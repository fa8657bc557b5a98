"""How often each level of a column was met, in memory that does not grow with the rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from heapq import nlargest
from typing import Self

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import Words
from elmband.sums.moments import Moments

CAPACITY = 100_000
"""Levels of a column that are counted at a time."""

LONGEST = 200
"""Characters of the longest level; anything longer is a text of its own, and rare."""


@dataclass(frozen=True, eq=False)
class LevelSums(Moments):
    """Counts of levels, by weight.

    Up to `capacity` levels they are exact. With more of them, the counts are those of Misra and
    Gries, which merge: the same number is taken off every count so that no more than `capacity`
    are left above zero. `lost` is the sum of these numbers. A true count lies between the count
    here and `lost` more, and `lost` is at most n / (capacity + 1).

    Attributes
    ----------
    n, missing : float
        Rows, and rows without a value.
    counts : mapping from str to float
        Rows with each level.
    lost : float
        What a count may lack.
    gone : bool
        Whether levels were met that have no count: rare ones, or texts that are too long.
    """

    n: float
    missing: float
    counts: Mapping[str, float]
    lost: float = 0.0
    gone: bool = False
    capacity: int = CAPACITY
    kind = "text"

    def __add__(self, other: Self) -> Self:
        counts = dict(self.counts)
        for level, count in other.counts.items():
            counts[level] = counts.get(level, 0.0) + count
        return type(self)(
            n=self.n + other.n,
            missing=self.missing + other.missing,
            counts=counts,
            lost=self.lost + other.lost,
            gone=self.gone or other.gone,
            capacity=self.capacity,
        )._pruned()

    def _pruned(self) -> Self:
        if len(self.counts) <= self.capacity:
            return self
        least = nlargest(self.capacity + 1, self.counts.values())[-1]
        left = {level: count - least for level, count in self.counts.items() if count > least}
        return type(self)(
            self.n, self.missing, left, self.lost + least, gone=True, capacity=self.capacity
        )


def count_levels(words: Words, s: Array | None, capacity: int = CAPACITY) -> LevelSums:
    """Count the levels of some rows, each as often as its weight says."""
    weights = None if s is None else s.astype(np.float64)
    sums = np.bincount(words.codes + 1, weights, len(words.levels) + 1).astype(np.float64)
    counts: dict[str, float] = {}
    gone = False
    for level, count in zip(words.levels, sums[1:].tolist(), strict=True):
        if len(level) > LONGEST:
            gone = gone or count > 0
        elif count > 0:
            counts[level] = counts.get(level, 0.0) + count
    found = LevelSums(float(sums.sum()), float(sums[0]), counts, gone=gone, capacity=capacity)
    return found._pruned()  # noqa: SLF001
