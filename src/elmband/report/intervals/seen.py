"""The second pass over rows with intervals: everything that the page tells is counted here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from elmband._arrays import to_numpy
from elmband.metrics.streaming import IntervalSums, interval_sums
from elmband.moments import Several
from elmband.report.axes import Axis
from elmband.report.bins import FeatureBins, NarrowBins, feature_bins, narrow_bins, threshold_steps
from elmband.report.intervals.said import Said, said
from elmband.report.look import Drawn
from elmband.report.rows import Block, block_slices
from elmband.report.tallies import ByLabel, Cells, Extremes, Floats, Span

# Rows of each table.
N_MISSES = 10
N_EXTREMES = 5


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

    @property
    def at(self) -> int:
        """The place of the level asked for."""
        return self.levels.index(self.level)

    def asked(self, X: Any, y: Any) -> "Asked":
        """Ask the model about rows."""
        answer = said(self.model, X, self.levels)
        lower, upper = answer.lower[:, self.at], answer.upper[:, self.at]
        error = y - answer.mean
        # Both bounds may lie at the same infinite end.
        width = np.where(np.isinf(lower) | np.isinf(upper), np.inf, upper - lower)
        return Asked(answer, lower, upper, width, error, (lower <= y) & (y <= upper))


class Asked(NamedTuple):
    """Rows with what is said of them, at the level asked for."""

    said: Said
    lower: Floats
    upper: Floats
    width: Floats
    error: Floats
    held: Any


class Seen(NamedTuple):
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
    groups : ByLabel or None
        For each group: rows, intervals that held, absolute errors, widths.
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
    groups: ByLabel | None


def make_plan(
    model: Any, levels: tuple[float, ...], level: float, axes: Sequence[Axis], drawn: Drawn
) -> Plan:
    """Decide by a sample where bins shall lie."""
    nothing = FeatureBins((), ())
    rough = Plan(model, levels, level, nothing, NarrowBins(1.0), NarrowBins(1.0), np.empty(0))
    parts = block_slices(len(drawn.y))
    blocks = [rough.asked(drawn.X[part, :], drawn.y[part]) for part in parts]
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
    )


def count_block(plan: Plan, block: Block) -> Several:
    """Count a block; the parts are those of `Seen`, without groups where there are none."""
    X = to_numpy(block.X)
    asked = plan.asked(block.X, block.y)
    answer, width, size = asked.said, asked.width, np.abs(asked.error)
    one, held = np.ones(block.n), asked.held.astype(np.float64)
    (cell, place), count = plan.features.located(X), plan.features.n_cells
    bounds = np.stack([answer.lower, answer.upper], axis=1)[:, None]
    finite = np.isfinite(width)
    step = np.searchsorted(plan.steps, width[finite], side="left")
    n_steps = len(plan.steps)
    table = np.column_stack(
        [block.y, answer.mean, asked.lower, asked.upper, answer.std, answer.noise, X]
    )

    def extremes(size: int, keys: Floats) -> Extremes:
        return Extremes.of(size, keys, block.numbers, table)

    by_row = np.stack([one, held, size, answer.noise, answer.unknown], axis=1)
    by_step = np.stack([one, size, size**2, held], axis=1)[finite]
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
        extremes(N_MISSES, deviations(asked)),
        extremes(N_EXTREMES, width),
        extremes(N_EXTREMES, -width),
    ]
    if block.group is not None:
        by_group = np.stack([one, held, size, width], axis=1)
        parts.append(ByLabel.of(block.group, by_group))
    return Several(tuple(parts))


def deviations(asked: Asked) -> Floats:
    """Return how many standard deviations targets are off; NaN where the interval held them."""
    size, std = np.abs(asked.error), asked.said.std
    off = np.divide(size, std, out=np.full_like(size, np.inf), where=std > 0)
    return np.where(asked.held, np.nan, off)


def seen(sums: Several) -> Seen:
    """Name what was counted."""
    return Seen._make([*sums.parts, None][: len(Seen._fields)])
