"""Cross-fitting, for fits on few rows: scores of rows that a whole model was not trained on.

Scores in closed form leave a row out of the output weights and of the noise model, but not out of
what is chosen by all rows: where neurons are, which layers have a weight, γ. Of few rows each has
a say in that, and its score comes out too small. So a few parts of the rows are held out in turn,
all is fitted again to the others, and the scores are those of the rows held out. Of many rows none
has a say: the scores turn into those in closed form, step by step.

What learned neurons are drawn from has seen the targets of all rows as well, also of those that are
left out afterwards: of few rows, errors in closed form come out too small after a round or two. So
neurons learn as often as rows held out gain by it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import double, namespace, place, to_numpy
from elmband.layers.hidden import LayerSpec
from elmband.layers.output_layer import AlphaRule
from elmband.stacks.ensemble import Stack
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool
from elmband.stacks.search import Rounds, fit_stack, pool_rows, search_rounds
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows
from elmband.sums.sample import taken
from elmband.sums.scaling import Scaling
from elmband.sums.weights import bounded_weights
from elmband.uncertainty.calibrate import RowScores, row_scores
from elmband.uncertainty.fit_predictive import NoiseSettings, fit_predictive
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.mean import Standardised, in_mean_weights, standardised
from elmband.uncertainty.noise.parts import Parts as VarianceParts
from elmband.uncertainty.noise.parts import Support
from elmband.uncertainty.transform import Identity

R = TypeVar("R")
Parts: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# Up to the first number of rows scores are those of rows held out, from the second on those in
# closed form. Parts are as many as time allows: of few rows each is missed, and of many a third is
# not. Settled on artificial data of 15 to 300 rows: linear and nonlinear means of 2 to 10 inputs,
# pure noise, unequal, heavy-tailed and skewed noise, 50 useless columns, categories.
_ALL_HELD_OUT, _NONE_HELD_OUT = 300, 600
_PARTS = ((40, 20), (60, 10), (150, 5), (_NONE_HELD_OUT, 3))
# Rows of more columns than this are worth fewer, and rows of classes a part of a row; but more rows
# than the last are never held out, since that takes three fits.
_COLUMNS = 10
_ROWS_PER_CLASS_ROW = 4
_MOST_HELD_OUT = 5000
# Fewer rows than this leave no model to speak of when one of them is held out.
_LEAST_ROWS = 3
# Fewer rows than this have too little to tell how often neurons shall learn, and each round must
# lower the mean squared error of rows held out by this share.
_LEAST_ROWS_TO_LEARN, _LEAST_GAIN = 100, 0.02
_MOST_ROUNDS = 2


class Recipe(NamedTuple):
    """How a model is fitted: its layers, or how many at most and how they learn; γ; the noise.

    Strengths γ are for rows whose weights were divided by their mean.
    """

    specs: Sequence[LayerSpec] | None
    rule: AlphaRule
    most: int | None
    noise: NoiseSettings
    rounds: Rounds
    max_neurons: int


class HeldOut(NamedTuple):
    """Rows that are held out, a pool of all others and how it was scaled, and a stack of these."""

    pool: Pool
    scaled: Standardised
    rows: Chunk
    stack: Stack | None = None


def closed_form(pool: Pool) -> bool:
    """Tell whether scores of the rows of a pool are those in closed form alone."""
    n = len(np.unique(pool.order))
    everything = pool.n_distinct == int(pool.distinct.rows.X.shape[0])
    return (
        held_out_share(rows_worth(pool)) == 0
        or n > _MOST_HELD_OUT
        or not everything
        or n < _LEAST_ROWS
    )


def cross_fitted(
    pool: Pool, recipe: Recipe, closed: RowScores, held_out: Sequence[HeldOut] = ()
) -> RowScores:
    """Return scores of rows held out, or their mean with those in `closed` form.

    The rows are those behind the distinct ones of the pool, in the same order. Stacks that were
    fitted already without a part of the rows are `held_out`.
    """
    if closed_form(pool):
        return closed
    parts = held_out_parts(pool)
    if held_out:
        with engine.running(engine.Job()), engine.limit_blas(0):
            found = engine.for_all(lambda one: _scores_of(one, recipe), held_out)
    else:
        found = for_parts(lambda here: _fitted_scores(pool, here, recipe), parts)
    share, order = held_out_share(rows_worth(pool)), _places(parts)
    return RowScores.joined(found).taken(order).blended(closed, share)


def held_out_share(n: float) -> float:
    """Return the share that rows held out have in the scores of n rows."""
    return float(np.interp(n, (_ALL_HELD_OUT, _NONE_HELD_OUT), (1.0, 0.0)))


def rows_worth(pool: Pool) -> float:
    """Return how many rows of few columns, and of numbers, those of a pool are worth.

    Many columns make rows few: neurons that learn find directions that suit just these rows. So
    do classes, which tell less than numbers.
    """
    n, columns = len(np.unique(pool.order)), int(pool.distinct.rows.X.shape[1])
    worth = n * min(1.0, _COLUMNS / max(columns, 1))
    return worth / _ROWS_PER_CLASS_ROW if pool.classes else worth


def n_parts(n: int) -> int:
    """Return how many parts n rows, or groups, are held out in."""
    return min(next((parts for most, parts in _PARTS if n <= most), _PARTS[-1][1]), n)


def held_out_parts(pool: Pool) -> Parts:
    """Return the part that each of the rows behind a pool's distinct ones is held out with."""
    units = np.unique(pool.order)
    parts: Parts = (np.searchsorted(units, pool.order) % n_parts(len(units)))[pool.distinct.owner]
    return parts


def for_parts(function: Callable[[Any], R], parts: Parts, *, all_first: bool = False) -> list[R]:
    """Return what a function makes of every part, told by which rows are in it.

    With `all_first` it is called with None before, for all rows.
    """
    masks = [parts == k for k in range(int(parts.max()) + 1)]
    # These rows are in memory: there is nothing to be kept in a checkpoint, or worth a bar.
    with engine.running(engine.Job()), engine.limit_blas(0):
        return engine.for_all(function, [None, *masks] if all_first else masks)


def without_part(
    pool: Pool, here: np.ndarray[Any, Any], specs: Sequence[LayerSpec] | None = None
) -> HeldOut:
    """Hold the rows out that are `here`, of those behind a pool's distinct ones."""
    everyone = pool.distinct
    X = everyone.rows.X
    X = namespace(X).take(X, place(everyone.owner, X, namespace(X).int64), axis=0)
    rows = Chunk(X, everyone.Y, everyone.s)
    index = np.flatnonzero(~here)
    labels = None if pool.labels is None else pool.labels[everyone.owner][index]
    raw = bounded_weights(ArrayRows.of(taken(rows, index)), labels).rows
    scaled = standardised(raw, everyone.rows.Y.dtype)
    size = max(pool_rows(len(index)), *(spec.n_neurons for spec in specs or ()), 0)
    sub = Pool.of(
        scaled.rows, scaled.inputs, labels, size, pool.seed, pool.eps, classes=pool.classes
    )
    return HeldOut(sub, scaled, taken(rows, np.flatnonzero(here)))


def _fitted_scores(pool: Pool, here: np.ndarray[Any, Any], recipe: Recipe) -> RowScores:
    """Fit to the rows that are not `here`, and return the scores of those that are."""
    held_out = without_part(pool, here, recipe.specs)
    rule = in_mean_weights(recipe.rule, held_out.scaled.weight)
    stack = fit_stack(
        held_out.pool, recipe.specs, rule, recipe.most, recipe.rounds, recipe.max_neurons
    )
    return _scores_of(held_out._replace(stack=stack), recipe)


def _scores_of(held_out: HeldOut, recipe: Recipe) -> RowScores:
    """Return the scores of rows held out, by a stack that has not seen them."""
    parts = _answers_of(held_out, recipe.noise)
    return _scores(parts, held_out.scaled.targets, held_out.rows)


def _answers_of(held_out: HeldOut, noise: NoiseSettings) -> VarianceParts:
    """Return mean and variances of rows held out, by a stack that has not seen them."""
    pool, scaled, rows, stack = held_out
    assert stack is not None
    noise = noise.in_mean_weights(scaled.weight)
    model = fit_predictive(pool, stack, noise).predictive
    support = Support.of(scaled.ends, scaled.targets, Identity(), pool.n_distinct)
    return model.parts(rows.X, 0.0).supported(support)


def held_out_rows(
    held_out: Sequence[HeldOut], parts: Parts, noise: NoiseSettings | None
) -> LeftOut:
    """Return what stacks say of rows that they have not seen, in the order of the rows.

    Without a noise model there are means only.
    """
    found = [_left_out(one, noise) for one in held_out]
    xp = namespace(found[0].mean)
    order = place(_places(parts), found[0].mean, xp.int64)

    def joined(columns: Sequence[Any]) -> Any:
        if columns[0] is None:
            return None
        return xp.take(xp.concat(list(columns), axis=0), order, axis=0)

    return LeftOut(*(joined(columns) for columns in zip(*found, strict=True)))


def _left_out(one: HeldOut, noise: NoiseSettings | None) -> LeftOut:
    """Return the rows of one part in the units of the whole pool."""
    assert one.stack is not None
    scale, centre = double(one.scaled.targets.scale), double(one.scaled.targets.mean)
    target, s = double(one.rows.Y), one.rows.s
    if noise is None:
        members = tuple(fitted.member for fitted in one.stack.fitted)
        mean = MeanStack(members, one.stack.weights).mean(one.rows.X)
        return LeftOut(target, double(mean) * scale + centre, s)
    found = _answers_of(one, noise)
    variances = (found.noise, found.mean_model, found.noise_model)
    mean = double(found.mean) * scale + centre
    return LeftOut(target, mean, s, *(double(v) * scale**2 for v in variances))


def _places(parts: Parts) -> Parts:
    """Return where each row is, once rows have been joined part by part."""
    return np.argsort(np.argsort(parts, kind="stable"), kind="stable")


def _scores(parts: VarianceParts, targets: Scaling, rows: Chunk) -> RowScores:
    e = double(targets(rows.Y)) - parts.mean
    return row_scores(e, (parts.total, parts.above, parts.below), rows.s)


class ChosenRounds(NamedTuple):
    """How often neurons learn; "auto" where left-out errors can tell.

    Where rows are so few that errors in closed form are too small, `held_out` are searches without
    one of `parts` of the rows, with that many rounds, and `stack` is what the search of all rows
    has found after these.
    """

    rounds: Rounds
    held_out: tuple[HeldOut, ...] = ()
    parts: Parts | None = None
    stack: Stack | None = None

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
    if len(np.unique(pool.order)) < _LEAST_ROWS_TO_LEARN:
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
