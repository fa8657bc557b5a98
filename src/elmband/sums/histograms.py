"""Small histograms of columns, by which later rows can be compared with training rows.

A histogram holds cuts between values and the weight of each bin: no row, and no value of a row.
Those with the same cuts add up, so that rows may come in any order and in chunks of any size.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from elmband.ground.arrays import Array, Floats, double, to_numpy
from elmband.sums.moments import Moments

_MOST_BINS = 32
# Least rows of a bin, so that a histogram does not reveal single rows.
_ROWS_PER_BIN = 10
# Values that differ by less than this share of their range are equal but for rounding.
_SAME = 1e-9


@dataclass(frozen=True, eq=False)
class Histograms(Moments):
    """Histograms of d columns.

    Attributes
    ----------
    cuts : array (k, d)
        Upper ends of all bins but the last, which has none; those of columns with fewer bins end
        with infinite ones.
    weights : array (k + 1, d)
        Weight of the rows in every bin.
    """

    cuts: Floats
    weights: Floats

    @classmethod
    def of(cls, values: Array, s: Array) -> Self:
        """Cut columns (n, d) of rows of weights s into bins of about equal weight, 32 at most.

        Columns of two values have a bin for each.
        """
        rows, weights = _checked(values, s)
        found = [_column_cuts(column, weights) for column in rows.T]
        cuts = np.full((max(map(len, found), default=0), rows.shape[1]), np.inf)
        for j, column in enumerate(found):
            cuts[: len(column), j] = column
        return cls(cuts, _counted(cuts, rows, weights))

    def counted(self, values: Array, s: Array | None = None) -> Self:
        """Return histograms of other rows (n, d) in the same bins; what is missing is in none."""
        return type(self)(self.cuts, _counted(self.cuts, *_checked(values, s)))

    def __add__(self, other: Self) -> Self:
        if not np.array_equal(self.cuts, other.cuts):
            raise ValueError("Histograms add up where they have the same bins; use counted().")
        return type(self)(self.cuts, self.weights + other.weights)

    @property
    def shares(self) -> Floats:
        """The share of each bin, (k + 1, d); those of a column sum to one."""
        total = self.weights.sum(axis=0)
        shares: Floats = self.weights / np.where(total > 0, total, 1.0)
        return shares

    @property
    def n_bins(self) -> np.ndarray[Any, np.dtype[np.int64]]:
        """The number of bins of each column, (d,)."""
        count: np.ndarray[Any, np.dtype[np.int64]] = np.isfinite(self.cuts).sum(axis=0)
        return count + 1


@dataclass(frozen=True, eq=False)
class TrainingHistograms:
    """Histograms of the training rows of a model: of its inputs, and of its targets.

    Targets are in the units of y; those of classes are -1 and +1, a column for each of more than
    two classes. `inputs.counted(X).shares` beside `inputs.shares` tells how new rows differ.

    Examples
    --------
    >>> from elmband import ELMRegressor
    >>> X = np.linspace(0, 1, 100)[:, None]
    >>> model = ELMRegressor(20, random_state=0).fit(X, X[:, 0] ** 2)
    >>> inputs = model.training_histograms_.inputs
    >>> inputs.shares.ravel().round(1)
    array([0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1])
    >>> inputs.counted(X / 2).shares.ravel().round(1)
    array([0.2, 0.2, 0.2, 0.2, 0.2, 0. , 0. , 0. , 0. , 0. ])
    """

    inputs: Histograms
    targets: Histograms

    def __repr__(self) -> str:
        widths = self.inputs.cuts.shape[1], self.targets.cuts.shape[1]
        return f"TrainingHistograms({widths[0]} inputs, {widths[1]} targets)"


def _checked(values: Array, s: Array | None) -> tuple[Floats, Floats]:
    rows = to_numpy(double(values))
    return rows, np.ones(len(rows)) if s is None else to_numpy(double(s))


def _counted(cuts: Floats, rows: Floats, s: Floats) -> Floats:
    weights = np.zeros((len(cuts) + 1, rows.shape[1]))
    for j, column in enumerate(rows.T):
        there = ~np.isnan(column)
        bins = np.searchsorted(cuts[:, j], column[there], side="left")
        # An infinite value belongs to the last bin that the column has.
        last = int(np.isfinite(cuts[:, j]).sum())
        weights[:, j] = np.bincount(np.minimum(bins, last), s[there], len(weights))
    return weights


def _column_cuts(column: Floats, s: Floats) -> Floats:
    """Return cuts at quantiles between different values of a column."""
    order = np.argsort(column, kind="stable")
    values = column[order]
    # Halves first: the difference of two huge numbers would overflow.
    new = values[1:] / 2 - values[:-1] / 2 > _SAME * (values[-1] / 2 - values[0] / 2)
    ends = np.flatnonzero(new)
    if len(ends) <= 1:
        return _round_cuts(values[ends], values[ends + 1])
    bins = min(_MOST_BINS, len(column) // _ROWS_PER_BIN)
    cumulated = np.cumsum(s[order])
    levels = np.arange(1, bins) / max(bins, 1) * cumulated[-1]
    # Rounding of sums shall not move a cut.
    chosen = np.searchsorted(cumulated[ends] * (1 + _SAME), levels, side="left")
    ends = ends[np.unique(chosen[chosen < len(ends)])]
    return _round_cuts(values[ends], values[ends + 1])


def _round_cuts(low: Floats, high: Floats) -> Floats:
    """Return cuts of few digits near the middle of gaps, so that they do not reveal the values."""
    gap = high / 2 - low / 2
    # A power of two that is at most half the gap.
    grid = np.exp2(np.floor(np.log2(np.maximum(gap, np.finfo(np.float64).tiny))))
    cuts: Floats = np.rint((low / 2 + high / 2) / grid) * grid
    return np.where((cuts >= low) & (cuts < high), cuts, low)
