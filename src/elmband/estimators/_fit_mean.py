"""How the mean is fitted: a single layer, or a stack of the best layers with what is left over."""

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from elmband.engines import engine
from elmband.estimators._open_rows import Opened
from elmband.estimators._placement import layer_specs
from elmband.estimators._validate import (
    check_alpha,
    check_local_layers,
    check_locality,
    check_max_neurons,
    check_rounds,
    warn_constant,
    warn_no_local_layers,
)
from elmband.ground.arrays import Array, double, epsilon, namespace
from elmband.layers.hidden import LayerSpec
from elmband.layers.output_layer import AlphaRule, in_mean_weights
from elmband.models.fitted import Fitted, Layer, Notes
from elmband.models.grown import Grown
from elmband.models.target_units import TargetUnits, asked_range, ends_in_units
from elmband.sources.hidden_cache import keeping
from elmband.stacks.ensemble import Stack
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool, row_weights, weighty_rows
from elmband.stacks.search import fit_stack, pool_rows
from elmband.sums.histograms import Histograms, TrainingHistograms
from elmband.sums.sample import distinct_rows
from elmband.sums.scaling import Extent, Scaling
from elmband.sums.weights import bounded_weights
from elmband.uncertainty.dependence import layer_dependence, stack_dependences
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.local_fit import (
    LocalFit,
    LocalSettings,
    fit_local,
    known_columns,
    on_device,
)
from elmband.uncertainty.mean import MeanModel, fit_mean, standardised
from elmband.uncertainty.predictive import Predictive, stack_left_out
from elmband.uncertainty.rounds import ChosenRounds, chosen_rounds
from elmband.uncertainty.targets import Support, found_range, is_auto

LeftOutRows = Callable[[], LeftOut]

# Rows of a single layer that are looked at.
_ROWS = 4000


class FittedStack(NamedTuple):
    """A stack, the rows that it was judged on, how often its neurons might learn, local layers."""

    pool: Pool
    stack: Stack
    rounds: ChosenRounds
    local: LocalFit | None
    units: TargetUnits


def fit_point(model: Any, opening: Callable[[], Opened]) -> tuple[Fitted, LeftOutRows]:
    """Fit a mean, and return it with what it says of rows left out."""
    rule, specs = check_alpha(model.alpha), layer_specs(model)
    opened = opening()
    if specs is not None and len(specs) == 1 and opened.labels is None:
        one_pass = model.selection is None and (isinstance(rule, float) or rule == "gcv")
        with nullcontext() if one_pass else keeping(opened.rows):
            mean, fitted = fit_layer(model, opened, specs[0], rule)
        return fitted, lambda: mean.left_out(mean.some_rows(opened.training.seed))
    if model.selection is not None:
        raise ValueError("selection is for a single layer without groups or n_estimators.")
    pool, stack, chosen, local, units = stack_of(model, opened, specs, rule)
    found = MeanStack(tuple(fitted.member for fitted in stack.fitted), stack.weights)
    if local is not None:
        found = replace(found, local=on_device(local.layers, stack.weights))
    fitted = Fitted(
        opened.inputs,
        opened.training,
        units,
        found,
        classes=opened.classes,
        notes=notes_of_stack(pool, found, None, units),
    )
    if chosen.has_held_out:
        return fitted, chosen.left_out
    return fitted, lambda: stack_left_out(pool, stack, local)


def fit_layer(
    model: Any, opened: Opened, spec: LayerSpec, rule: AlphaRule
) -> tuple[MeanModel, Fitted]:
    """Fit a single layer; return it as the second stage goes on with it, and as a model."""
    training = opened.training
    with engine.calm(spec.n_neurons):
        mean = fit_mean(opened.rows, spec, rule, training.dtype, training.seed, model.selection)
    warn_constant(mean.constant, mean.targets, opened.transform)
    grown = Grown.of(mean) if hasattr(model, "partial_fit") else None
    units = layer_units(model, opened.units(mean.targets), mean)
    fitted = Fitted(
        opened.inputs,
        training,
        units,
        layer_of(mean, units),
        classes=opened.classes,
        grown=grown,
        notes=notes_of_layer(mean, units, training.seed),
    )
    return mean, fitted


def layer_of(mean: MeanModel, units: TargetUnits) -> Layer:
    """Return a single layer as people read it."""
    # A number that gives the same model again, with the same weights.
    alpha = units.shaped(mean.layer.alpha * mean.weight)
    return Layer(mean.features, mean.hidden, units.shaped(mean.layer.coef), alpha)


def layer_units(model: Any, units: TargetUnits, mean: MeanModel) -> TargetUnits:
    """Return what targets say of others, for a single layer."""
    # Without a transform a single layer is least squares, and nothing else.
    support = None
    if mean.ends is not None and units.transformed:
        support = Support.of(mean.ends, units.scaling, units.transform, len(mean.rows))
    ends = asked_range(model.target_range, units.transform, units.count, mean.ends)
    return replace(units, support=support, range=ends, values=None)


def stack_of(
    model: Any,
    opened: Opened,
    specs: list[LayerSpec] | None,
    rule: AlphaRule,
    *,
    blind: bool = False,
) -> FittedStack:
    """Fit a stack, of `blind` neurons where it is only to be compared with others."""
    dtype = opened.training.dtype
    rows, labels = weighty_rows(opened.rows, opened.labels)
    rows, worth, factor = bounded_weights(rows, labels)
    scaled = standardised(rows, dtype)
    warn_constant(scaled.constant, scaled.targets, opened.transform)
    eps = epsilon(dtype, namespace(rows.like))
    size = max(pool_rows(len(scaled.rows)), *(spec.n_neurons for spec in specs or ()), 0)
    pool = Pool.of(
        scaled.rows,
        scaled.inputs,
        labels,
        size,
        opened.training.seed,
        eps,
        classes=opened.classes is not None,
    )
    pool = replace(
        pool,
        weight=scaled.weight,
        worth=worth,
        factor=factor,
        values=scaled.values,
        prints=scaled.prints,
        may_narrow=model.precision == "auto",
    )
    units = opened.units(scaled.targets)
    if not blind:
        units = _stack_units(model, opened, scaled.targets, scaled.ends, len(scaled.rows))
    rule = in_mean_weights(rule, scaled.weight)
    chosen = ChosenRounds(0)
    if specs is None and not blind:
        chosen = chosen_rounds(pool, rule, check_rounds(model.learning_rounds))
    most = check_max_neurons(model.max_neurons)
    stack = fit_stack(
        pool, specs, rule, model.n_estimators, chosen.rounds, most, found=chosen.stack
    )
    local = None if blind else _local_layers(model, opened, specs, pool, stack, units.count)
    return FittedStack(pool, stack, chosen, local, units)


def _stack_units(
    model: Any, opened: Opened, scaling: Scaling, ends: Extent, n_rows: int
) -> TargetUnits:
    """Return what training targets, transformed but not standardised, say of others."""
    transform = opened.transform
    asked = asked_range(model.target_range, transform, int(ends.low.shape[0]), ends)
    if opened.classes is not None:
        return opened.units(scaling, range=asked)
    if is_auto(model.target_range) and is_auto(model.target_transform):
        asked = found_range(ends_in_units(ends, transform), n_rows)
    support = Support.of(ends, scaling, transform, n_rows)
    return opened.units(scaling, support=support, range=asked)


def _local_layers(
    model: Any,
    opened: Opened,
    specs: list[LayerSpec] | None,
    pool: Pool,
    stack: Stack,
    n_outputs: int,
) -> LocalFit | None:
    """Fit layers for the levels of columns; refuse columns that cannot have any."""
    d, table, names = int(pool.rows.like.shape[1]), opened.inputs.encoder, opened.inputs.names
    columns = check_local_layers(model.local_layers, known_columns(table, names, d))
    if isinstance(columns, tuple):
        grouped = pool.labels is not None
        check_locality(single=specs is not None, groups=grouped, outputs=n_outputs)
    columns = None if specs is not None else columns
    found = fit_local(pool, stack, LocalSettings(columns, table, names))
    if found is None and isinstance(columns, tuple):
        warn_no_local_layers(columns, pool.n_distinct)
    return found


def notes_of_stack(
    pool: Pool, stack: MeanStack, predictive: Predictive | None, units: TargetUnits
) -> Notes:
    """Note what a stack depends on, and what its sampled rows are like."""
    noise = () if predictive is None else predictive.noise
    with np.errstate(all="ignore"):
        known = pool.distinct
        inputs = Histograms.of(known.rows.X, row_weights(known.rows))
        histograms = TrainingHistograms(inputs, _of_targets(units, known.Y, known.s))
        return Notes(stack_dependences(pool, stack, noise), histograms, pool.prints)


def notes_of_layer(mean: MeanModel, units: TargetUnits, seed: int) -> Notes:
    """Note the same of a single layer, where its rows are at hand."""
    if not mean.rows.in_memory:
        return Notes(row_prints=mean.prints)
    some = distinct_rows(mean.rows.whole(), mean.inputs, _ROWS, seed)
    s = row_weights(some)
    with np.errstate(all="ignore"):
        dependences = layer_dependence(mean.features, mean.layer.coef, some.X, s)
        histograms = TrainingHistograms(
            Histograms.of(some.X, s), _of_targets(units, double(some.Y), s)
        )
    return Notes(dependences, histograms, mean.prints)


def _of_targets(units: TargetUnits, Y: Array, s: Array) -> Histograms:
    """Return histograms of standardised targets, in their units."""
    return Histograms.of(units.values_of(Y), s)
