"""How often neurons learn where rows are few: as often as rows held out gain by it.

What neurons are drawn from has seen the targets of all rows, also of those that are left out
afterwards. Of many rows none has a say in that; of few, errors of rows left out come out too small
after a round or two. So parts of the rows are held out in turn, and the search runs without them.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.ground.arrays import double, to_numpy
from elmband.layers.output_layer import AlphaRule, in_mean_weights
from elmband.stacks.ensemble import Stack
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool
from elmband.stacks.search import Rounds, fit_stack, search_rounds
from elmband.uncertainty.cross_fit import (
    HeldOut,
    Parts,
    closed_form,
    for_parts,
    held_out_parts,
    held_out_rows,
    without_part,
)
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.predictive import NoiseSettings

# Fewer rows have too little to tell.
_LEAST_ROWS = 100
_MOST_ROUNDS = 2
# Each round must lower the mean squared error of rows held out by this share.
_LEAST_GAIN = 0.02

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


class ChosenRounds(NamedTuple):
    """How often neurons learn; "auto" where left-out errors can tell.

    `held_out` are searches without one of `parts` of the rows, with that many rounds, where there
    were any, and `stack` is what the search of all rows has found after these.
    """

    rounds: Rounds
    held_out: tuple[HeldOut, ...] = ()
    parts: Parts | None = None
    stack: Stack | None = None

    @property
    def has_held_out(self) -> bool:
        """Whether rows are so few that they were held out: errors in closed form are too small."""
        return bool(self.held_out)

    def left_out(self, noise: NoiseSettings | None = None) -> LeftOut:
        """Return what was predicted for rows held out, with variances if there is a noise model."""
        assert self.parts is not None
        return held_out_rows(self.held_out, self.parts, noise)


class _Search(NamedTuple):
    """The stacks after each round of a search, without some rows and with these rows' errors."""

    stacks: tuple[Stack, ...]
    held_out: HeldOut | None = None
    squares: tuple[float, ...] = ()


def chosen_rounds(pool: Pool, rule: AlphaRule, rounds: Rounds) -> ChosenRounds:
    """Return the number of rounds to learn in, by rows held out where they are few."""
    if rounds != "auto" or closed_form(pool):
        return ChosenRounds(rounds)
    if len(np.unique(pool.order)) < _LEAST_ROWS:
        return ChosenRounds(0)
    parts = held_out_parts(pool)
    # All rows beside the parts: it keeps threads busy, and no round is run twice.
    everyone, *others = for_parts(lambda here: _search(pool, here, rule), parts, all_first=True)
    best = _best(np.sum([one.squares for one in others], axis=0))
    held_out = tuple(_finished(one, best, rule) for one in others)
    return ChosenRounds(best, held_out, parts, everyone.stacks[best])


def _finished(one: _Search, rounds: int, rule: AlphaRule) -> HeldOut:
    """Return a search without some rows as the whole one ends: of many rows, trained on all."""
    assert one.held_out is not None
    rule = in_mean_weights(rule, one.held_out.scaled.weight)
    stack = fit_stack(one.held_out.pool, None, rule, found=one.stacks[rounds])
    return one.held_out._replace(stack=stack)


def _search(pool: Pool, here: np.ndarray[Any, Any] | None, rule: AlphaRule) -> _Search:
    """Search without the rows that are `here`, or with all, for as many rounds as there may be."""
    if here is None:
        return _Search(_padded(search_rounds(pool, rule, _MOST_ROUNDS)))
    held_out = without_part(pool, here)
    rule = in_mean_weights(rule, held_out.scaled.weight)
    stacks = _padded(search_rounds(held_out.pool, rule, _MOST_ROUNDS))
    return _Search(stacks, held_out, tuple(_squares(held_out, stack) for stack in stacks))


def _padded(stacks: Iterable[Stack]) -> tuple[Stack, ...]:
    """Return a stack for every round: those that were not worth beginning change nothing."""
    found = tuple(stacks)
    return found + found[-1:] * (_MOST_ROUNDS + 1 - len(found))


def _squares(held_out: HeldOut, stack: Stack) -> float:
    """Return the weighted sum of squared errors of rows held out, in the units of targets."""
    scaled, rows = held_out.scaled, held_out.rows
    target = to_numpy(double(scaled.targets(rows.Y)))
    ends = (scaled.ends.low, scaled.ends.high)
    low, high = (to_numpy(double(scaled.targets(end[None, :]))) for end in ends)
    s = np.ones(len(target)) if rows.s is None else to_numpy(double(rows.s))
    members = tuple(fitted.member for fitted in stack.fitted)
    mean = np.clip(to_numpy(MeanStack(members, stack.weights).mean(rows.X)), low, high)
    return float(np.mean(s @ (target - mean) ** 2 * to_numpy(scaled.targets.scale) ** 2))


def _best(squares: Floats) -> int:
    """Return the last round that was worth its while."""
    best = 0
    for k in range(1, len(squares)):
        if squares[k] < (1 - _LEAST_GAIN) ** (k - best) * squares[best]:
            best = k
    return best
