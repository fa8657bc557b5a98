"""The first pass: how many rows there are, what ranges they span, and a sample of them.

Edges of bins come from the sample. Counts between these edges are of all rows.
"""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from elmband.ground.arrays import Array, Keys, double, namespace, place, to_numpy
from elmband.report.inputs import seen_in_training
from elmband.report.rows import Block
from elmband.sums.moments import Moments, Several
from elmband.sums.row_prints import SeenRows
from elmband.sums.sample import mixed
from elmband.sums.scaling import ColumnMoments, Extent, column_moments, extent

MOST_ROWS = 20_000
_MOST_BYTES = 2**23


@dataclass(frozen=True, eq=False)
class Drawn(Moments):
    """The rows whose numbers have the smallest keys: a uniform sample, whatever the chunks."""

    size: int
    keys: Keys
    X: Array
    y: np.ndarray[Any, Any]

    def __add__(self, other: Self) -> Self:
        keys = np.concatenate([self.keys, other.keys])
        X = namespace(self.X).concat([self.X, other.X], axis=0)
        return type(self)(self.size, keys, X, np.concatenate([self.y, other.y])).cut()

    def cut(self) -> Self:
        """Keep no more rows than `size`, in the order in which they came."""
        if len(self.keys) <= self.size:
            return self
        kept = np.sort(np.argpartition(self.keys, self.size)[: self.size])
        xp = namespace(self.X)
        X = xp.take(self.X, place(kept, self.X, xp.int64), axis=0)
        return type(self)(self.size, self.keys[kept], X, self.y[kept])


@dataclass(frozen=True, eq=False)
class FirstPass(Moments):
    """Sums and ranges of features and target, samples of rows and of groups, rows seen before."""

    features: ColumnMoments
    ranges: Extent
    target: ColumnMoments
    target_range: Extent
    drawn: Drawn
    groups: Several
    seen: SeenRows | None

    @property
    def n(self) -> int:
        """Number of rows."""
        return round(self.features.n)

    def __add__(self, other: Self) -> Self:
        # What is not known of some rows, whether training saw them, is not known of all.
        pairs = [(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)]
        sums: list[Any] = [None if None in (a, b) else a + b for a, b in pairs]
        return type(self)(*sums)


def first_pass(model: Any, block: Block) -> FirstPass:
    """Return what the first pass sums up of a block."""
    # In one order of memory, so that sums over frames and files agree to the last digit.
    X = np.ascontiguousarray(to_numpy(double(block.X)))
    y = block.y[:, None].astype(np.float64)
    size = sample_size(X.shape[1])
    keys = number_keys(block.numbers)
    nothing = np.empty((block.n, 0))
    return FirstPass(
        column_moments(X, None),
        extent(X),
        column_moments(y, None),
        extent(y),
        Drawn(size, keys, block.X, block.y).cut(),
        Several(tuple(Drawn(MOST_ROWS, keys, nothing, one).cut() for one in block.groups)),
        seen_in_training(model, block),
    )


def sample_size(n_features: int) -> int:
    """Return the number of rows to draw, fewer where they are long."""
    return min(MOST_ROWS, max(_MOST_BYTES // (8 * n_features), 1000))


def number_keys(numbers: np.ndarray[Any, np.dtype[np.int64]]) -> Keys:
    """Mix row numbers to 64 random bits, by splitmix64."""
    return mixed(numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15))
