"""The second pass over rows with intervals: everything that the page tells is counted here."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Floats, to_numpy
from elmband.metrics.streaming import IntervalSums, interval_sums
from elmband.report.axes import Axis
from elmband.report.bins import FeatureBins, NarrowBins, feature_bins, narrow_bins, threshold_steps
from elmband.report.first_pass import FirstPass
from elmband.report.group_levels import Cut, find_cut
from elmband.report.intervals.predictions import Predictions, predictions
from elmband.report.rows import Block, block_slices
from elmband.report.tallies import Cells, Extremes, Span, columns
from elmband.sums.moments import Several

# Rows of each table.
N_MISSES = 10
N_EXTREMES = 5
# Rows without a negative target from which on targets are taken for never negative.
_ENOUGH = 50


Ends = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Plan:
    """How rows are counted: at which levels, along which features, in which bins."""

    model: Any
    levels: tuple[float, ...]
    level: float
    features: FeatureBins
    widths: NarrowBins
    errors: NarrowBins
    steps: Floats
    # Range of possible targets, and one interval for all rows.
    limits: Ends = (-np.inf, np.inf)
    constant: Ends = (-np.inf, np.inf)
    cuts: tuple[Cut, ...] = ()

    @property
    def at(self) -> int:
        """The place of the level asked for."""
        return self.levels.index(self.level)

    def evaluated(self, X: Any, y: Any) -> "Evaluated":
        """Return predictions of rows beside their targets."""
        answer = predictions(self.model, X, self.levels)
        lower, upper = answer.lower[:, self.at], answer.upper[:, self.at]
        error = y - answer.mean
        # Both bounds may lie at the same infinite end.
        width = np.where(np.isinf(lower) | np.isinf(upper), np.inf, upper - lower)
        return Evaluated(answer, lower, upper, width, error, (lower <= y) & (y <= upper))


class Evaluated(NamedTuple):
    """Rows with what is predicted of them, at the level asked for."""

    predictions: Predictions
    lower: Floats
    upper: Floats
    width: Floats
    error: Floats
    held: Any


class Counts(NamedTuple):
    """All that was counted.

    Attributes
    ----------
    scores : IntervalSums
        Errors, and coverage at every level.
    bins : Cells
        For each bin of each feature: rows, intervals that held, absolute errors, and shares of
        noise and of what is unknown.
    spans : Span
        The values of the feature in each bin.
    widths, errors : Cells
        Widths and absolute errors in narrow bins, for each bin of each feature.
    steps : Cells
        For each step of width: rows, absolute and squared errors, intervals that held.
    step_widths : Span
        Widths in each step.
    worst, widest, narrowest : Extremes
        Single rows.
    beside : Cells
        In a single cell: targets below their interval, those above, intervals with a bound beyond
        the limits, targets within the constant interval, and how far they are outside of it.
    groups : Several
        For each grouping, and each group: rows, intervals that held, absolute errors, widths.
    """

    scores: IntervalSums
    bins: Cells
    spans: Span
    widths: Cells
    errors: Cells
    steps: Cells
    step_widths: Span
    worst: Extremes
    widest: Extremes
    narrowest: Extremes
    beside: Cells
    groups: Several


def make_plan(
    model: Any, levels: tuple[float, ...], level: float, axes: Sequence[Axis], first: FirstPass
) -> Plan:
    """Choose bins and steps from a sample."""
    drawn = first.drawn
    nothing = FeatureBins((), ())
    rough = Plan(model, levels, level, nothing, NarrowBins(1.0), NarrowBins(1.0), np.empty(0))
    parts = block_slices(len(drawn.y))
    blocks = [rough.evaluated(drawn.X[part, :], drawn.y[part]) for part in parts]
    width = np.concatenate([block.width for block in blocks])
    error = np.abs(np.concatenate([block.error for block in blocks]))
    widths = narrow_bins(width)
    return Plan(
        model,
        levels,
        level,
        feature_bins(axes, to_numpy(drawn.X), widths(width).astype(np.float64)),
        widths,
        narrow_bins(error),
        threshold_steps(width),
        limits_of(model, first),
        # The interval between two quantiles of targets, with as many rows on either side.
        tuple(np.quantile(drawn.y, [(1 - level) / 2, (1 + level) / 2]).tolist()),
        tuple(find_cut(one.y) for one in first.groups.parts),
    )


def limits_of(model: Any, first: FirstPass) -> Ends:
    """Return the range of possible targets: that of the model, or from 0 on.

    The latter where no target of enough rows is below it.
    """
    low, high = (float(end) for end in model.target_range_)
    if math.isinf(low) and first.n >= _ENOUGH and float(first.target_range.low[0]) >= 0:
        low = 0.0
    return low, high


# Squares of very large errors overflow.
@np.errstate(over="ignore", invalid="ignore")
def count_block(plan: Plan, block: Block) -> Several:
    """Count a block; the parts are those of `Counts`."""
    X = to_numpy(block.X)
    rows = plan.evaluated(block.X, block.y)
    answer, width, size = rows.predictions, rows.width, np.abs(rows.error)
    one, held = np.ones(block.n), rows.held
    (cell, place), count = plan.features.located(X), plan.features.n_cells
    bounds = np.stack([answer.lower, answer.upper], axis=1)[:, None]
    finite = np.isfinite(width)
    step = np.searchsorted(plan.steps, width[finite], side="left")
    n_steps = len(plan.steps)
    table = np.column_stack(
        [block.y, answer.mean, rows.lower, rows.upper, answer.std, answer.noise, X]
    )

    def extremes(size: int, keys: Floats) -> Extremes:
        return Extremes.of(size, keys, block.numbers, table)

    by_row = columns(one, held, size, answer.noise, answer.unknown)
    by_step = columns(one, size, size**2, held)[finite]
    parts: list[Any] = [
        interval_sums(
            block.y[:, None], answer.mean[:, None], answer.std[:, None], bounds, None, plan.levels
        ),
        Cells.of(cell, by_row, count),
        Span.of(cell, place, count),
        plan.widths.counted(cell, width, count),
        plan.errors.counted(cell, size, count),
        Cells.of(step, by_step, n_steps),
        Span.of(step, width[finite], n_steps),
        extremes(N_MISSES, deviations(rows)),
        extremes(N_EXTREMES, width),
        extremes(N_EXTREMES, -width),
        _beside(plan, rows, block.y),
    ]
    by_group = columns(one, held, size, width)
    groups = zip(plan.cuts, block.groups, strict=True)
    return Several((*parts, Several(tuple(cut.sums(by_group, one) for cut, one in groups))))


def _beside(plan: Plan, rows: Evaluated, y: Any) -> Cells:
    """Count misses on either side, impossible bounds, and misses of one interval for all rows."""
    low, high = plan.constant
    outside = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    impossible = (rows.lower < plan.limits[0]) | (rows.upper > plan.limits[1])
    values = columns(y < rows.lower, y > rows.upper, impossible, outside == 0, outside)
    return Cells.of(np.zeros(len(y), dtype=np.int64), values, 1)


def deviations(rows: Evaluated) -> Floats:
    """Return how many standard deviations targets are off; NaN where the interval held them."""
    size, std = np.abs(rows.error), rows.predictions.std
    off = np.divide(size, std, out=np.full_like(size, np.inf), where=std > 0)
    return np.where(rows.held, np.nan, off)
