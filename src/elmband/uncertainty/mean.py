"""The first stage: standardise, draw the hidden layer, select neurons, solve for the mean."""

from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import double, epsilon, namespace, to_numpy
from elmband.layers.hidden import FeatureMap, HiddenLayer, LayerSpec
from elmband.layers.output_layer import AlphaRule, OutputLayer, RidgeProblem
from elmband.layers.select import (
    Indices,
    Selection,
    keep,
    keep_sums,
    op_elm,
    select_count,
    trop_elm,
)
from elmband.sums.moments import Chunk, Count, Gram, Several
from elmband.sums.row_prints import RowPrints, row_prints
from elmband.sums.rows import Rows, RowScaling
from elmband.sums.sample import RowSample, row_keys, sample_rows, without_negligible
from elmband.sums.scaling import Extent, Scaling, column_moments, extent
from elmband.sums.value_counts import ValueCounts, value_counts
from elmband.uncertainty.left_out import LeftOut, some_rows

SelectionMethod: TypeAlias = Literal["op-elm", "trop-elm", "loo", "cv", "validation"]

SELECTION_METHODS = ("op-elm", "trop-elm", "loo", "cv", "validation")

# Folds of cross-validation; a validation set is one of them.
_FOLDS = 5


@dataclass(frozen=True, eq=False)
class MeanModel:
    """A trained mean model, with what the second stage needs to go on from it.

    `rows` have standardised targets, and weights that were divided by `weight`, their mean; `sums`
    is None in the dual form; `eps` is the rounding unit of the products. `hidden` and `features`
    are those of the selected neurons, and `selection` is None where all are kept. `ends` are the
    least and the greatest targets, where known, and so are fingerprints of the rows.
    """

    rows: Rows
    inputs: Scaling
    targets: Scaling
    hidden: HiddenLayer
    features: FeatureMap
    sums: Gram | None
    layer: OutputLayer
    eps: float
    selection: Selection | None = None
    constant: tuple[bool, ...] = ()
    weight: float = 1.0
    ends: Extent | None = None
    prints: RowPrints | None = None

    def some_rows(self, seed: int) -> Chunk:
        """Return rows that can be left out: a sample of many, but all of them in the dual form."""
        return self.rows.whole() if self.layer.dual else some_rows(self.rows, seed)

    def left_out(self, chunk: Chunk) -> LeftOut:
        """Return what the model says of training rows, each of them left out."""
        hidden = self.features(chunk)
        r, rest = self.layer.residuals(hidden)
        return LeftOut(hidden.Y, hidden.Y - r / rest, chunk.s)


class Standardised(NamedTuple):
    """Rows with standardised targets in the dtype of products, and the scalings.

    `constant` tells for every output whether its targets are all equal; `weight` is the mean weight
    of a row, by which weights were divided; `ends` are the least and the greatest targets, and
    `values` different ones as far as they are few, and `prints` fingerprints of rows.
    """

    rows: Rows
    inputs: Scaling
    targets: Scaling
    constant: tuple[bool, ...]
    weight: float
    ends: Extent
    values: ValueCounts
    prints: RowPrints


def standardised(raw: Rows, dtype: Any) -> Standardised:
    """Find the scalings of raw rows in one pass, and scale the targets."""

    def chunk_map(chunk: Chunk) -> Several:
        ends = extent(chunk.X), extent(chunk.Y)
        moments = column_moments(chunk.X, chunk.s), column_moments(chunk.Y, chunk.s)
        counts = Count(float(chunk.X.shape[0])), value_counts(chunk.Y), row_prints(chunk)
        return Several((*moments, *ends, *counts))

    found = engine.total(raw, chunk_map, "scales").parts
    of_inputs, of_targets, within, ends, rows, values, prints = found
    inputs, targets = Scaling.from_moments(of_inputs, within), Scaling.from_moments(of_targets)
    constant = tuple(bool(flat) for flat in to_numpy(of_targets.constant))
    check_held(ends, targets, dtype)
    weight = of_targets.n / rows.n
    scaled = raw.scaled(RowScaling(targets, weight), dtype)
    return Standardised(scaled, inputs, targets, constant, weight, ends, values, prints)


def in_mean_weights(rule: AlphaRule, weight: float) -> AlphaRule:
    """Return the rule for rows whose weights were divided by `weight`, their mean.

    A number γ acts on the weights as given, as in scikit-learn's `Ridge`: with weights t·s the
    solution is that of s with γ/t.
    """
    return rule / weight if isinstance(rule, float) else rule


def check_held(ends: Extent, targets: Scaling, dtype: Any) -> None:
    """Refuse targets that results in float32 could not hold."""
    if "float32" not in str(dtype):
        return
    largest = float(np.max(np.abs([to_numpy(ends.low), to_numpy(ends.high)])))
    spread = float(np.min(to_numpy(double(targets.scale))))
    if largest > 1e37 or spread < 1e-37:
        raise ValueError(
            f"y goes up to {largest:g}, which results in float32 cannot hold; give X in float64, "
            "or precision='float64'."
        )


def fit_mean(
    raw: Rows,
    spec: LayerSpec,
    rule: AlphaRule,
    dtype: Any,
    seed: int,
    selection: SelectionMethod | None = None,
) -> MeanModel:
    """Train on raw rows, with products in `dtype`, on all neurons or on those that are selected."""
    rows, inputs, targets, constant, weight, ends, _, prints = standardised(raw, dtype)
    rule = in_mean_weights(rule, weight)
    hidden = draw_hidden(rows, inputs, spec, seed)
    features = FeatureMap(inputs, hidden).to(raw.like, dtype)
    eps = epsilon(dtype, namespace(raw.like))
    problem, chosen = RidgeProblem(rows, features, hidden.n_neurons, eps), None
    if selection is None:
        sums = None if problem.dual else problem.gram()
    else:
        problem, features, sums, chosen = narrowed(
            problem, features, problem.gram(), selection, rule, seed
        )
        hidden = keep(hidden, chosen.neurons)
    layer = problem.solve_dual(rule) if sums is None else problem.solve(rule, sums)
    return MeanModel(
        rows,
        inputs,
        targets,
        hidden,
        features,
        sums,
        layer,
        eps,
        chosen,
        constant,
        weight,
        ends,
        prints,
    )


class Narrowed(NamedTuple):
    """A ridge problem on selected neurons; `sums` is None where it goes by the dual form."""

    problem: RidgeProblem
    features: FeatureMap
    sums: Gram | None
    selection: Selection


def narrowed(
    problem: RidgeProblem,
    features: FeatureMap,
    sums: Gram,
    method: SelectionMethod,
    rule: AlphaRule,
    seed: int,
) -> Narrowed:
    """Select neurons of the layer `features`, and pose the problem for these only."""
    if method == "op-elm":
        selection = op_elm(problem, sums)
    elif method == "trop-elm":
        selection = trop_elm(problem, sums)
    else:
        folds = None if method == "loo" else row_folds(problem.rows, features.inputs, seed)
        if folds is not None and method == "validation":
            folds = np.where(folds == 0, 0, -1)
        alpha = rule if isinstance(rule, float) else None
        selection = select_count(problem, sums, alpha, folds=folds)
    kept = FeatureMap(features.inputs, keep(features.hidden, selection.neurons))
    kept = kept.to(problem.rows.like, problem.rows.dtype)
    problem = replace(problem, to_hidden=kept, n_neurons=kept.hidden.n_neurons)
    kept_sums = None if problem.dual else keep_sums(sums, np.sort(selection.neurons))
    return Narrowed(problem, kept, kept_sums, selection)


def row_folds(rows: Rows, inputs: Scaling, seed: int) -> Indices:
    """Return the fold of every row, at random but by its values alone: equal rows share a fold."""
    keys = row_keys(to_numpy(double(inputs(rows.whole().X))), seed)
    _, ranks = np.unique(keys, return_inverse=True)
    folds: Indices = ranks.reshape(-1).astype(np.int64) % _FOLDS
    return folds


def draw_hidden(rows: Rows, inputs: Scaling, spec: LayerSpec, seed: int) -> HiddenLayer:
    """Draw neurons; RBF centres come from a sample of rows, whose weights have a mean of one."""
    n_features = int(rows.like.shape[1])
    if not spec.n_centres:
        return spec.draw(n_features, seed)

    def sampled(chunk: Chunk) -> RowSample:
        return sample_rows(inputs(without_negligible(chunk).X), spec.n_centres, seed)

    return spec.draw(n_features, seed, engine.total(rows, sampled, "centres"))
