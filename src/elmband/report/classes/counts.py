"""The second pass over rows with classes: everything that the page tells is counted here."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Floats, to_numpy
from elmband.report.axes import Axis
from elmband.report.bins import FeatureBins, feature_bins, threshold_steps
from elmband.report.classes.predictions import Predictions, abstains, positive_place, predictions
from elmband.report.first_pass import FirstPass
from elmband.report.group_levels import Cut, find_cut
from elmband.report.rows import Block, block_slices
from elmband.report.tallies import Cells, Extremes, Span, columns
from elmband.sums.moments import Several

# Rows of each table.
N_MISSES = 10
N_EXTREMES = 5
# Bins of probability, equally wide.
N_PROBABILITIES = 10


@dataclass(frozen=True, eq=False)
class Plan:
    """How rows are counted; steps are those of minus the score, so that certain rows come first."""

    model: Any
    features: FeatureBins
    steps: Floats
    cuts: tuple[Cut, ...] = ()

    @property
    def labels(self) -> list[str]:
        """The classes in words."""
        return [str(label) for label in self.model.classes_.tolist()]

    @property
    def positive(self) -> int | None:
        """The place of the positive class."""
        return positive_place(self.model)

    @property
    def abstains(self) -> bool:
        """Whether some rows may be left to people."""
        return abstains(self.model)


class Counts(NamedTuple):
    """All that was counted.

    Attributes
    ----------
    confusion : Cells
        Rows by true class, called class and whether they were answered, (k · k · 2, 1).
    probabilities : Cells
        For each bin of probability: rows, sum of probabilities, rows of which it came true.
    bins : Cells
        For each bin of each feature: rows, right ones, answered ones, answered wrongly.
    spans : Span
        The values of the feature in each bin.
    steps : Cells
        For each step of certainty: rows, wrong ones, those called positive, those wrongly so.
    step_scores : Span
        Scores in each step.
    worst, unsure : Extremes
        The most certain wrong rows, and the least certain ones.
    groups : Several
        For each grouping, and each group: rows, right ones, answered ones, answered wrongly.
    """

    confusion: Cells
    probabilities: Cells
    bins: Cells
    spans: Span
    steps: Cells
    step_scores: Span
    worst: Extremes
    unsure: Extremes
    groups: Several

    def by_class(self, k: int) -> Floats:
        """Return the rows by true class, called class and whether they were answered."""
        return self.confusion.sums[:, 0].reshape(k, k, 2)


def make_plan(model: Any, axes: Sequence[Axis], first: FirstPass) -> Plan:
    """Choose bins and steps from a sample."""
    drawn = first.drawn
    parts = block_slices(len(drawn.y))
    score = np.concatenate([predictions(model, drawn.X[part, :]).score for part in parts])
    rank = np.unique(score, return_inverse=True)[1].astype(np.float64)
    bins = feature_bins(axes, to_numpy(drawn.X), rank)
    cuts = tuple(find_cut(one.y) for one in first.groups.parts)
    return Plan(model, bins, threshold_steps(-score), cuts)


def count_block(plan: Plan, block: Block) -> Several:
    """Count a block; the parts are those of `Counts`."""
    X, k = to_numpy(block.X), len(plan.labels)
    answer = predictions(plan.model, block.X)
    right = answer.called == block.y
    (cell, place), count = plan.features.located(X), plan.features.n_cells
    step = np.searchsorted(plan.steps, -answer.score, side="left")
    pair = (block.y * k + answer.called) * 2 + answer.answered
    table = np.column_stack([block.y, answer.called, answer.score, answer.of_called, X])
    by_row = columns(np.ones(block.n), right, answer.answered, answer.answered & ~right)
    parts: list[Any] = [
        Cells.of(pair, np.ones((block.n, 1)), 2 * k * k),
        _probabilities(plan, block, answer),
        Cells.of(cell, by_row, count),
        Span.of(cell, place, count),
        Cells.of(step, _by_step(plan, block, answer), len(plan.steps)),
        Span.of(step, answer.score, len(plan.steps)),
        Extremes.of(N_MISSES, np.where(right, np.nan, answer.score), block.numbers, table),
        Extremes.of(N_EXTREMES, -answer.score, block.numbers, table),
    ]
    groups = zip(plan.cuts, block.groups, strict=True)
    return Several((*parts, Several(tuple(cut.sums(by_row, one) for cut, one in groups))))


def _probabilities(plan: Plan, block: Block, answer: Predictions) -> Cells:
    """Count how often probabilities came true: of the second of two classes, or the one called."""
    if answer.probability.shape[1] == 2:
        place = 1 if plan.positive is None else plan.positive
        p, true = answer.probability[:, place], block.y == place
    else:
        p, true = answer.of_called, answer.called == block.y
    place_of = np.minimum((p * N_PROBABILITIES).astype(np.int64), N_PROBABILITIES - 1)
    return Cells.of(place_of, columns(np.ones(block.n), p, true), N_PROBABILITIES)


def _by_step(plan: Plan, block: Block, answer: Predictions) -> Floats:
    called = answer.called == plan.positive
    return columns(
        np.ones(block.n), answer.called != block.y, called, called & (block.y != plan.positive)
    )
