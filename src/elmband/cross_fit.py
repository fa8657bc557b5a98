"""Scores of rows that a whole model was not trained on: cross-fitting, for fits on few rows.

Scores in closed form leave a row out of the output weights and of the noise model, but not out of
what is chosen by all rows: where neurons are, which layers have a weight, γ. Of few rows each has
a say in that, and its score comes out too small. So a few parts of the rows are held out in turn,
all is fitted again to the others, and the scores are those of the rows held out. Of many rows none
has a say: the scores turn into those in closed form, step by step.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from elmband import engine
from elmband._arrays import double, namespace, place
from elmband.calibrate import RowScores, row_scores
from elmband.ensemble import fit_stack, pool_rows
from elmband.hidden import LayerSpec
from elmband.mean import standardised
from elmband.moments import Chunk
from elmband.noise.parts import Parts
from elmband.output_layer import AlphaRule, in_mean_weights
from elmband.pool import Pool
from elmband.predictive import NoiseSettings, fit_predictive
from elmband.rows import ArrayRows
from elmband.sample import taken
from elmband.scaling import Scaling
from elmband.targets import Support
from elmband.transform import Identity
from elmband.weights import bounded_weights

# Up to the first number of rows scores are those of rows held out, from the second on those in
# closed form. Parts are as many as time allows: of few rows each is missed, and of many a third is
# not. Settled on artificial data of 15 to 300 rows: linear and nonlinear means of 2 to 10 inputs,
# pure noise, unequal, heavy-tailed and skewed noise, 50 useless columns, categories.
_ALL_HELD_OUT, _NONE_HELD_OUT = 300, 600
_PARTS = ((40, 20), (60, 10), (150, 5), (_NONE_HELD_OUT, 3))
# Fewer rows than this leave no model to speak of when one of them is held out.
_LEAST_ROWS = 3


class Recipe(NamedTuple):
    """How a model is fitted: its layers, or how many of them at most, γ, and the noise model."""

    specs: Sequence[LayerSpec] | None
    rule: AlphaRule
    most: int | None
    noise: NoiseSettings

    def in_mean_weights(self, weight: float) -> Self:
        """Return the same for rows whose weights were divided by `weight`."""
        rule, noise = in_mean_weights(self.rule, weight), self.noise.in_mean_weights(weight)
        return self._replace(rule=rule, noise=noise)


def cross_fitted(pool: Pool, recipe: Recipe, closed: RowScores) -> RowScores:
    """Return scores of rows held out, or their mean with those in `closed` form.

    The rows are those behind the distinct ones of the pool, in the same order.
    """
    units = np.unique(pool.order)
    share = held_out_share(len(units))
    everything = pool.n_distinct == int(pool.distinct.rows.X.shape[0])
    if share == 0 or not everything or len(units) < _LEAST_ROWS:
        return closed
    everyone = pool.distinct
    parts = (np.searchsorted(units, pool.order) % n_parts(len(units)))[everyone.owner]
    X = everyone.rows.X
    X = namespace(X).take(X, place(everyone.owner, X, namespace(X).int64), axis=0)
    rows = Chunk(X, everyone.Y, everyone.s)
    labels = None if pool.labels is None else pool.labels[everyone.owner]

    def held_out(part: int) -> RowScores:
        return _held_out(rows, labels, parts == part, pool, recipe)

    # These rows are in memory: there is nothing to be kept in a checkpoint, or worth a bar.
    with engine.running(engine.Job()):
        found = engine.for_all(held_out, range(int(parts.max()) + 1))
    order = np.argsort(np.argsort(parts, kind="stable"), kind="stable")
    return RowScores.joined(found).taken(order).blended(closed, share)


def held_out_share(n: int) -> float:
    """Return the share that rows held out have in the scores of n rows."""
    return float(np.interp(n, (_ALL_HELD_OUT, _NONE_HELD_OUT), (1.0, 0.0)))


def n_parts(n: int) -> int:
    """Return how many parts n rows, or groups, are held out in."""
    return min(next(parts for most, parts in _PARTS if n <= most), n)


def _held_out(
    rows: Chunk, labels: Any, here: np.ndarray[Any, Any], pool: Pool, recipe: Recipe
) -> RowScores:
    """Fit to the rows that are not `here`, and return the scores of those that are."""
    index = np.flatnonzero(~here)
    others = None if labels is None else labels[index]
    raw = bounded_weights(ArrayRows.of(taken(rows, index)), others).rows
    scaled = standardised(raw, pool.distinct.rows.Y.dtype)
    size = max(pool_rows(len(index)), *(spec.n_neurons for spec in recipe.specs or ()), 0)
    sub = Pool.of(scaled.rows, scaled.inputs, others, size, pool.seed, pool.eps)
    recipe = recipe.in_mean_weights(scaled.weight)
    stack = fit_stack(sub, recipe.specs, recipe.rule, recipe.most)
    model = fit_predictive(sub, stack, recipe.noise).predictive
    held_out = taken(rows, np.flatnonzero(here))
    parts = model.parts(held_out.X, 0.0).supported(
        Support.of(scaled.ends, scaled.targets, Identity(), len(index))
    )
    return _scores(parts, scaled.targets, held_out)


def _scores(parts: Parts, targets: Scaling, rows: Chunk) -> RowScores:
    e = double(targets(rows.Y)) - parts.mean
    return row_scores(e, (parts.total, parts.above, parts.below), rows.s)
