"""How far off a mean may be for a category that training did not have.

Marks of 0 and 1 of which each row has exactly one are a one-hot block: the levels of a category. A
new row with none of them, as sklearn's `OneHotEncoder` writes an unknown level, or with the mean of
each, as `TableEncoder` does, is of a level whose effect nothing tells. The effects of the known
levels tell how large it may be.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.special import ndtri, stdtrit

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.stacks.levels import Block, is_one_hot, one_hot_blocks
from elmband.stacks.pool import Pool
from elmband.sums.rows import ArrayRows

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
MeanOf: TypeAlias = Callable[[Array], Array]

# Rows that the effects of the levels of a block are averaged over, about.
_ROWS = 400
# The two-sided level at which few levels get the quantile of Student's t.
_LEVEL = 0.9
# Half the width of the widest interval for it, in ranges of the training targets.
_MOST_RANGES = 1.5


@dataclass(frozen=True, eq=False)
class NewLevels:
    """Variance of the mean where a row has none of the levels of a one-hot block.

    Attributes
    ----------
    marks : array (d, c)
        1 where a column is the mark of a level of a block that some row has, else 0.
    mixed : array (c,)
        1 - Σ p² for each block, with the shares p of its levels.
    deviation : array (c, m)
        The square root of what a new level adds to the variance of standardised targets.
    """

    marks: Floats
    mixed: Floats
    deviation: Floats

    @classmethod
    def of(
        cls, pool: Pool, mean_of: MeanOf, blocks: Sequence[tuple[int, int]] | None
    ) -> Self | None:
        """Learn from sampled rows and a fitted mean; look for `blocks` where none are given."""
        found = _found(pool) if blocks is None else [Block(*b) for b in blocks]
        spreads = [(block, _spread(pool, mean_of, block)) for block in found]
        known = [(block, spread) for block, spread in spreads if spread is not None]
        if not known:
            return None
        shares = to_numpy(double(pool.inputs.mean))
        marks = np.zeros((len(shares), len(known)))
        for c, (block, _) in enumerate(known):
            # A level without any row is as new as one without a column.
            marks[block.start : block.stop, c] = shares[block.start : block.stop] > 0
        mixed = 1 - (shares**2) @ marks
        return cls(marks, mixed, np.sqrt([spread for _, spread in known]))

    def bounded(self, multipliers: Floats, ranges: Floats) -> Self:
        """Return the same with a new level adding no more than an interval of 90 % has room for.

        That is 1.5 times the range of the training targets on either side of the mean: the range,
        and its own length below and above. `multipliers` (m,) are those of 90 % intervals.
        """
        most = _MOST_RANGES * ranges / np.maximum(multipliers, 1e-300)
        return replace(self, deviation=np.minimum(self.deviation, most))

    def of_rows(self, X: Array) -> Array:
        """Return the variance that new levels add to rows, (n, m).

        A row with one mark has Σ x² = 1 in its block, and adds nothing at all; one without any
        mark has 0, and one with the shares p as marks has Σ p².
        """
        X = double(X)
        xp = namespace(X)
        marks, mixed, deviation = (place(a, X) for a in (self.marks, self.mixed, self.deviation))
        # Values beyond 2 are no marks either, and their squares may be too large for a number.
        far = xp.abs(1 - xp.clip(X, min=-2.0, max=2.0) ** 2 @ marks)
        return xp.clip(far / mixed, max=1.0) @ deviation**2


def _found(pool: Pool) -> list[Block]:
    """Find blocks in the sample, and leave out those that other rows in memory contradict."""
    blocks = one_hot_blocks(pool.distinct.rows.X)
    if not isinstance(pool.rows, ArrayRows):
        return blocks
    X = pool.rows.X
    return [block for block in blocks if is_one_hot(X[:, block.start : block.stop])]


def _spread(pool: Pool, mean_of: MeanOf, block: Block) -> Floats | None:
    """Return the variance (m,) that a new level of a block adds; None if nothing tells.

    Of each level k some rows are predicted as they are, and with the shares p as marks. With
    the mean square D_k² of the differences, and K levels,

        (1/K) Σ D_k² · (K + 1) / (K - 1) · (t / z)².

    The first factor makes of a spread about the mean of K levels the square error of that mean for
    one more. The second stands for how little few levels tell of their spread: t and z are the
    quantiles of Student's t with K - 1 degrees of freedom and of the normal distribution. It is at
    most the square of the range of the targets.
    """
    rows = pool.distinct.rows
    levels, index = _rows_of_levels(pool, block)
    n_levels = len(np.unique(levels))
    if n_levels < 2 or _left_out_whole(pool, levels, index):
        return None
    xp = namespace(rows.X)
    X = xp.take(rows.X, place(index, rows.X, xp.int64), axis=0)
    code = pool.inputs.mean[block.start : block.stop]
    without = xp.concat(
        [
            X[:, : block.start],
            xp.zeros_like(X[:, block.start : block.stop]) + place(code, X)[None, :],
            X[:, block.stop :],
        ],
        axis=1,
    )
    squares = to_numpy(double(mean_of(X)) - double(mean_of(without))) ** 2
    shares = 1 / np.bincount(levels)[levels] / n_levels
    most = np.ptp(to_numpy(double(rows.Y)), axis=0) ** 2
    spread: Floats = np.minimum(shares @ squares * few_levels(n_levels), most)
    return spread


def _left_out_whole(pool: Pool, levels: Any, index: Any) -> bool:
    """Tell whether each level left with a group: multipliers know what a new one does then."""
    if pool.labels is None:
        return False
    _, groups = np.unique(pool.labels[index], return_inverse=True)
    pairs = np.unique(np.stack([levels, groups.reshape(-1)]), axis=1)
    return bool(pairs.shape[1] == len(np.unique(levels)))


def few_levels(n_levels: int) -> float:
    """Return by how much the spread of so many levels is to be increased for a new one.

    >>> [round(few_levels(k), 2) for k in (2, 3, 8, 50)]
    [44.2, 6.3, 1.71, 1.08]
    """
    point = (1 + _LEVEL) / 2
    ratio = stdtrit(n_levels - 1, point) / ndtri(point)
    return float((n_levels + 1) / (n_levels - 1) * ratio**2)


def _rows_of_levels(pool: Pool, block: Block) -> tuple[Any, Any]:
    """Return levels and positions of sampled rows, about as many of each level."""
    marks = to_numpy(pool.distinct.rows.X[:, block.start : block.stop])
    rows = np.flatnonzero(np.sum(marks == 1, axis=1) == 1)
    rows = rows[np.argsort(pool.order[rows], kind="stable")]
    levels = np.argmax(marks[rows] == 1, axis=1)
    most = max(1, _ROWS // marks.shape[1])
    by_level = np.argsort(levels, kind="stable")
    ordered = levels[by_level]
    rank = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    taken = by_level[rank < most]
    return levels[taken], rows[taken]
