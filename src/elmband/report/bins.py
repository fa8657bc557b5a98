"""Bins: tenths of a column, steps of a threshold, and narrow ones from which medians are read."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from elmband.ground.arrays import Floats, Ints
from elmband.report.axes import Axis
from elmband.report.tallies import Cells, Span

MOST_BINS = 10
_ROWS_PER_BIN = 25
# A gap between values is at least this share of their range.
_LEAST_GAP = 0.05
# Features shown at most: nobody reads more.
MOST_FEATURES = 20
# Thresholds at every percent of the rows.
_STEPS = 100
Line = dict[str, Any]
# Relative slack of a threshold: values may be computed a little differently next time.
_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class FeatureBins:
    """Chosen axes, and for each the upper edges of all its bins but the last.

    Values that are missing come after all others, beyond edges that are infinite.
    """

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

    def cut(self, sums: Floats) -> list[Floats]:
        """Return what was summed in cells (cells, ...) feature by feature."""
        return list(np.split(sums, np.cumsum(self.counts)[:-1]))

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
    edges = [
        # What is missing has a last bin of its own.
        np.append(feature_edges(column), [np.inf] * axis.may_miss)
        for axis, column in zip(ready, values, strict=True)
    ]
    change = [
        explained(np.searchsorted(e, column, side="left"), interest)
        for e, column in zip(edges, values, strict=True)
    ]
    order = np.argsort(-np.asarray(change), kind="stable")
    kept = [int(j) for j in order if len(edges[j])][:MOST_FEATURES] or [0]
    return FeatureBins(tuple(ready[j] for j in kept), tuple(edges[j] for j in kept))


def feature_edges(column: Floats) -> Floats:
    """Return the upper edges of bins but the last; few distinct values have a bin each.

    No bin reaches over a wide gap between values. Missing ones do not count.
    """
    column = column[~np.isnan(column)]
    distinct = np.unique(column)
    if len(distinct) <= MOST_BINS:
        return distinct[:-1]
    count = min(MOST_BINS, max(2, len(column) // _ROWS_PER_BIN))
    shares = np.arange(1, count) / count
    edges = np.unique(np.quantile(column, shares, method="inverted_cdf"))
    edges = edges[edges < distinct[-1]]
    return _cut_at_gaps(np.sort(column), edges.tolist())


def _cut_at_gaps(column: Floats, edges: list[float]) -> Floats:
    """Cut bins of sorted values in two where a gap within is wider than what lies on both sides.

    A part of few rows joins the bin next to it; at either end of all values there is none.
    """
    least = (column[-1] - column[0]) * _LEAST_GAP
    found = set(edges)
    parts = np.split(column, np.searchsorted(column, edges, side="right"))
    for k, part in enumerate(parts):
        place = int(np.diff(part).argmax()) if len(part) > 1 else 0
        if len(part) < 2 or part[place + 1] - part[place] <= max(
            part[place] - part[0], part[-1] - part[place + 1], least
        ):
            continue
        few = place + 1 < _ROWS_PER_BIN, len(part) - place - 1 < _ROWS_PER_BIN
        if (few[0] and k == 0) or (few[1] and k == len(edges)) or all(few):
            continue
        found.add(float(part[place]))
        found -= {edges[k - 1]} if few[0] else set()
        found -= {edges[k]} if few[1] else set()
    return np.array(sorted(found))


def bin_lines(
    features: FeatureBins, counted: Cells, spans: Span, line: Callable[[int, int], Line]
) -> list[Line]:
    """Return one line for every bin of every feature; bins without rows are left out.

    The first of the values `counted` is the number of rows. `line` turns a cell, and the number of
    bins of its feature that have rows, into what is told of it.
    """
    parts = [np.count_nonzero(part[:, 0]) for part in features.cut(counted.sums)]
    lines = []
    for cell, (feature, place) in enumerate(features.owners):
        if counted.sums[cell, 0] > 0:
            low, high = float(spans.low[cell]), float(spans.high[cell])
            where: Line = {"feature": feature, "bin": place}
            where |= {"label": features.axes[feature].label(low, high), "from": low, "to": high}
            lines.append(where | line(cell, int(parts[feature])))
    return lines


def of_features(features: FeatureBins, lines: list[Line]) -> Iterator[tuple[str, list[Line]]]:
    """Yield the name of every feature, and the lines of its bins."""
    for k, axis in enumerate(features.axes):
        yield axis.name, [line for line in lines if line["feature"] == k]


def with_gaps(features: FeatureBins, lines: list[Line]) -> list[Line]:
    """Put a line without rows between bins of numbers that are far apart."""
    shown: list[Line] = []
    for k, axis in enumerate(features.axes):
        mine = [line for line in lines if line["feature"] == k]
        known = [line for line in mine if not math.isnan(line["from"])]
        gaps = spans_apart([(line["from"], line["to"]) for line in known]) if axis.is_number else []
        empty: Line = dict.fromkeys(mine[0]) | {"feature": k, "label": "no rows", "n": 0}
        shown += with_empty(mine, gaps, empty)
    return shown


def with_empty(lines: list[Line], gaps: Sequence[bool], empty: Line) -> list[Line]:
    """Put an empty line before those of the lines, but for the first, that are behind a gap."""
    shown = lines[:1]
    behind = [*gaps, *[False] * len(lines)]
    for gap, line in zip(behind, lines[1:], strict=False):
        shown += [dict(empty), line] if gap else [line]
    return shown


def spans_apart(spans: Sequence[tuple[float, float]]) -> list[bool]:
    """Tell before which spans of numbers, but for the first, there are some that no row has.

    Spans are apart where they are further from each other than both are wide.
    """
    if all(low == high for low, high in spans):
        return between([low for low, _ in spans])
    least = _LEAST_GAP * (spans[-1][1] - spans[0][0])
    return [
        low - before[1] > max(high - low, before[1] - before[0], least)
        for before, (low, high) in pairwise(spans)
    ]


def between(values: Any) -> list[bool]:
    """Tell before which of rising values, but for the first, there are some that no row has.

    Only where most of them are one step apart, as years and counts are.
    """
    steps = np.diff(np.asarray(values, dtype=np.float64))
    if len(steps) < 2:
        return [False] * len(steps)
    usual, times = np.unique(np.round(steps, 9), return_counts=True)
    common, regular = usual[times.argmax()], 2 * times.max() > len(steps)
    return [bool(regular and step > 1.5 * common) for step in steps]


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
