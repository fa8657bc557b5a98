"""Bins: tenths of a column, steps of a threshold, and narrow ones from which medians are read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elmband.report.axes import Axis
from elmband.report.tallies import Cells, Floats, Ints

MOST_BINS = 10
_ROWS_PER_BIN = 25
# Along more features than this nobody looks.
MOST_FEATURES = 20
# Thresholds at every percent of the rows.
_STEPS = 100
# Values that a threshold stems from may be computed a little differently next time.
_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class FeatureBins:
    """Chosen axes, and for each the upper edges of all its bins but the last."""

    axes: tuple[Axis, ...]
    edges: tuple[Floats, ...]

    @property
    def counts(self) -> list[int]:
        """Number of bins of every axis."""
        return [len(edges) + 1 for edges in self.edges]

    @property
    def n_cells(self) -> int:
        """Bins of all axes, which lie one after the other."""
        return sum(self.counts)

    @property
    def owners(self) -> list[tuple[int, int]]:
        """The axis of every cell, and its place among the bins of that."""
        return [(axis, place) for axis, n in enumerate(self.counts) for place in range(n)]

    def located(self, X: Any) -> tuple[Ints, Floats]:
        """Return cell and value of every row for every axis, each (n, number of axes)."""
        starts = np.cumsum([0, *self.counts[:-1]])
        values = [axis.values(X) for axis in self.axes]
        columns = [
            start + np.searchsorted(edges, column, side="left")
            for start, column, edges in zip(starts, values, self.edges, strict=True)
        ]
        return np.stack(columns, axis=1).astype(np.int64), np.stack(values, axis=1)


def feature_bins(axes: Sequence[Axis], X: Any, interest: Floats) -> FeatureBins:
    """Cut axes into bins of about as many rows each, by a sample X of all rows.

    Of many axes those are taken along which the `interest` (n,) changes most, the first among
    them first.
    """
    ready = [axis.prepared(axis.values(X)) for axis in axes]
    values = [axis.values(X) for axis in ready]
    edges = [feature_edges(column) for column in values]
    change = [
        explained(np.searchsorted(e, column, side="left"), interest)
        for e, column in zip(edges, values, strict=True)
    ]
    order = np.argsort(-np.asarray(change), kind="stable")
    kept = [int(j) for j in order if len(edges[j])][:MOST_FEATURES] or [0]
    return FeatureBins(tuple(ready[j] for j in kept), tuple(edges[j] for j in kept))


def feature_edges(column: Floats) -> Floats:
    """Return the upper edges of bins but the last; few distinct values have a bin each."""
    distinct = np.unique(column)
    if len(distinct) <= MOST_BINS:
        return distinct[:-1]
    count = min(MOST_BINS, max(2, len(column) // _ROWS_PER_BIN))
    shares = np.arange(1, count) / count
    edges = np.unique(np.quantile(column, shares, method="inverted_cdf"))
    return np.asarray(edges[edges < distinct[-1]])


def explained(cell: Any, values: Floats) -> float:
    """Return the share of the spread of values that lies between cells."""
    spread = values - values.mean()
    whole = float(spread @ spread)
    n = np.bincount(cell)
    sums = np.bincount(cell, spread)
    between = float(np.sum(sums[n > 0] ** 2 / n[n > 0]))
    return between / whole if whole > 0 else 0.0


def threshold_steps(values: Floats) -> Floats:
    """Return rising edges that leave one percent after the other of a sample at or below them.

    The last one is infinite, so that every finite value has a step.
    """
    finite = values[np.isfinite(values)]
    shares = np.arange(1, _STEPS) / _STEPS
    if not len(finite):
        return np.array([np.inf])
    edges = np.unique(np.quantile(finite, shares, method="inverted_cdf"))
    return np.append(edges + _SLACK * np.abs(edges), np.inf)


@dataclass(frozen=True, eq=False)
class NarrowBins:
    """Bins one percent wide, a million times smaller to a million times larger than `middle`.

    Medians are read from them, and are right within half a percent. The first bin holds what is
    smaller, and stands for 0; the last one what is larger.
    """

    middle: float

    STEP = 0.01
    HALF = math.ceil(math.log(1e6) / STEP)
    COUNT = 2 * HALF + 2

    def __call__(self, values: Floats) -> Ints:
        """Return the bin of every value of at least 0, (n,)."""
        with np.errstate(divide="ignore"):
            steps = np.floor(np.log(values / self.middle) / self.STEP)
        return np.asarray(np.clip(steps + self.HALF + 1, 0, self.COUNT - 1)).astype(np.int64)

    def counted(self, cell: Ints, values: Floats, count: int) -> Cells:
        """Count values (n,) of rows that are in the cells (n, f) in their bins."""
        both = cell * self.COUNT + self(values)[:, None]
        found = np.bincount(both.ravel(), minlength=count * self.COUNT)
        return Cells(found.reshape(count, self.COUNT).astype(np.float64))

    def medians(self, counted: Floats) -> Floats:
        """Return the median of every cell from counts (cells, bins), NaN where it is empty."""
        sums = np.cumsum(counted, axis=1)
        n = sums[:, -1:]
        # The middle value, or the two in the middle.
        ranks = np.concatenate([np.floor((n - 1) / 2), np.floor(n / 2)], axis=1)
        bins = (sums[:, None, :] <= ranks[:, :, None]).sum(axis=2)
        value = self.middle * np.exp((bins - self.HALF - 0.5) * self.STEP)
        value = np.where(bins == 0, 0.0, np.where(bins >= self.COUNT - 1, np.inf, value))
        return np.where(n[:, 0] > 0, value.mean(axis=1), np.nan)


def narrow_bins(values: Floats) -> NarrowBins:
    """Return bins around the median of a sample."""
    some = values[np.isfinite(values) & (values > 0)]
    return NarrowBins(float(np.median(some)) if len(some) else 1.0)
