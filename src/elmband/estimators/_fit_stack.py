"""How a stack is fitted: transform, mean, noise, multipliers, and what rows to come are held to."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier

from elmband.estimators._fit_layer import (
    LeftOutRows,
    fit_single,
    warn_constant,
)
from elmband.estimators._local_layers import fit_local_layers
from elmband.estimators._open_rows import Opened
from elmband.estimators._parameters import Settings, layer_spec
from elmband.ground.arrays import cast, double, epsilon, namespace, to_numpy
from elmband.ground.callers import level_of_caller
from elmband.layers.output_layer import AlphaRule
from elmband.models.fitted import Fitted, Notes
from elmband.models.target_units import TargetUnits
from elmband.sources.encode import EncoderState
from elmband.stacks.ensemble import Stack
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool, row_weights, weighty_rows
from elmband.stacks.search import MAX_NEURONS, fit_stack, pool_rows
from elmband.sums.histograms import Histograms, TrainingHistograms
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows
from elmband.sums.scaling import Extent
from elmband.sums.weights import bounded_weights
from elmband.uncertainty.calibrate import Calibration, OutputScores, RowScores
from elmband.uncertainty.cross_fit import ChosenRounds, Recipe, chosen_rounds, cross_fitted
from elmband.uncertainty.dependence import stack_dependences
from elmband.uncertainty.fit_predictive import (
    FittedPredictive,
    NoiseSettings,
    fit_predictive,
    stack_left_out,
)
from elmband.uncertainty.local_fit import LEAST_ROWS, LocalFit, on_device
from elmband.uncertainty.mean import in_mean_weights, standardised
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.noise.layers import smooth_spec
from elmband.uncertainty.noise.parts import Support
from elmband.uncertainty.predictive import Predictive
from elmband.uncertainty.target_values import LEVEL, gaining_values
from elmband.uncertainty.targets import asked_range, ends_in_units, found_range, is_auto, narrowed
from elmband.uncertainty.transform import Identity, Transform
from elmband.uncertainty.transform_choice import (
    best_of,
    left_out_score,
    sample_of,
    transforms_to_try,
)

# So much of their width may float32 change in 99 % of the intervals; far from the rows it is more.
_MOST_ERROR = 1e-4
# From so many rows on intervals cover as often as they say, on average over data sets.
_LEAST_ROWS = 15
# So do they for new groups from so many groups on.
_LEAST_GROUPS = 6
# Rows are worth as many as they are but for such a share.
_AS_MANY = 0.9


class FittedStack(NamedTuple):
    """A stack, the pool of its rows, how often its neurons might learn, local layers, and units.

    The `rule` for γ is for rows whose weights were divided by their mean.
    """

    pool: Pool
    rule: AlphaRule
    stack: Stack
    rounds: ChosenRounds
    local: LocalFit | None
    units: TargetUnits


def fit_point(model: Any, opened: Opened, settings: Settings) -> tuple[Fitted, LeftOutRows]:
    """Fit a mean, and return it with its predictions of rows left out."""
    if settings.single_layer:
        return fit_single(model, opened, settings)
    pool, _, stack, chosen, local, units = _fit_mean(model, opened, settings)
    found = MeanStack(tuple(fitted.member for fitted in stack.fitted), stack.weights)
    if local is not None:
        found = replace(found, local=on_device(local.layers, stack.weights))
    fitted = Fitted(
        opened.inputs,
        opened.training,
        units,
        found,
        classes=opened.classes,
        notes=_notes(pool, found, None, units),
    )
    if chosen.held_out:
        return fitted, chosen.left_out
    return fitted, lambda: stack_left_out(pool, stack, local)


def fit_log_variance(model: Any, opened: Opened, settings: Settings) -> tuple[Fitted, LeftOutRows]:
    """Fit a stack, a log-variance on top, and scores of rows left out."""
    noise = _noise_settings(model, opened, settings)
    opened = _with_best_transform(model, opened, settings, noise)
    pool, rule, stack, chosen, local, units = _fit_mean(model, opened, settings)
    noise = noise.in_mean_weights(pool.weight)
    fitted = fit_predictive(pool, stack, noise, local)
    # Scores of rows held out are for the same kind of model: one whose mean was not trained
    # again has other variances.
    decided = noise._replace(symmetric=fitted.symmetric, reweight=fitted.reweighted)
    scores: tuple[OutputScores, ...] = ()
    if model.calibration == "loo":
        most = model.n_estimators
        recipe = Recipe(settings.specs, rule, most, decided, chosen.rounds, model.max_neurons)
        scores = _scores(pool, recipe, fitted.row_scores, chosen)
    calibration = Calibration(model.calibration, scores)
    units = _with_values(model, pool, units, fitted, calibration)
    predictive = fitted.predictive
    if model.mode != "exact":
        faster = predictive.faster(pool.distinct.rows.X)
        if model.mode == "fast" or faster.error.most <= _MOST_ERROR:
            predictive = faster
    found = Fitted(
        opened.inputs,
        opened.training,
        units,
        predictive.stack,
        predictive,
        new_levels=_new_levels(pool, predictive.stack, opened.inputs.encoder, calibration),
        calibration=calibration,
        symmetric=fitted.symmetric,
        reweighted=fitted.reweighted,
        classes=opened.classes,
        notes=_notes(pool, predictive.stack, predictive, units),
    )
    if chosen.held_out:
        return found, lambda: chosen.left_out(decided)
    return found, lambda: fitted.left_out


def _noise_settings(model: Any, opened: Opened, settings: Settings) -> NoiseSettings:
    """Return how noise is to be learned, of a stack that was chosen or of layers asked for."""
    spec = None if model.noise_neurons is None else layer_spec(model, model.noise_neurons)
    if spec is None and is_classifier(model):
        # Steep neurons would take the places where classes meet for noise.
        spec = _smooth_spec(opened)
    chosen = settings.specs is None
    return NoiseSettings(
        spec=spec,
        alpha=settings.noise_rule if isinstance(settings.noise_rule, float) else None,
        # Normal multipliers are the same for both tails unless these are asked for.
        symmetric=model.symmetric if model.calibration == "loo" else bool(model.symmetric),
        # Layers that are asked for are least squares, and classes have no noise of their own.
        mean_rule=settings.rule if chosen and not is_classifier(model) else None,
    )


def _smooth_spec(opened: Opened) -> Any:
    # One more input than X has: the predicted mean.
    return smooth_spec(int(opened.rows.like.shape[1]) + 1)


def _with_best_transform(
    model: Any, opened: Opened, settings: Settings, noise: NoiseSettings
) -> Opened:
    """Return rows whose targets are as given, transformed if that is asked for and worth it.

    Transforms are tried on all rows where they are few, else on a sample of them. They are outputs
    of one fit with blind neurons: hidden outputs are the same for all.
    """
    rows = opened.rows
    # Skewness that a transform takes away needs no tails of their own: transforms come first.
    asked = model.target_transform == "auto" and model.symmetric and opened.classes is None
    if not asked or not isinstance(rows, ArrayRows) or int(rows.Y.shape[1]) > 1:
        return opened
    options = transforms_to_try(rows.Y, rows.s)
    if not options:
        return opened
    whole = rows.whole()
    sample, some = sample_of(whole, opened.labels, opened.training.seed)
    transforms = (Identity(), *options)
    tried = opened._replace(rows=_transformed(sample, transforms, rows.chunk_size), labels=some)
    pool, _, stack, _, _, units = _fit_mean(model, tried, settings, blind=True)
    spec = noise.spec or _smooth_spec(opened)
    blind = noise._replace(symmetric=True, spec=spec, mean_rule=None)
    fitted = fit_predictive(pool, stack, blind.in_mean_weights(pool.weight))
    scores = [
        left_out_score(fitted.left_out, fitted.scores, units.scaling, transform, j)
        for j, transform in enumerate(transforms)
    ]
    best = transforms[best_of(scores)]
    return opened._replace(rows=_transformed(whole, (best,), rows.chunk_size), transform=best)


def _transformed(rows: Chunk, transforms: Sequence[Transform], chunk_size: int) -> ArrayRows:
    """Return rows with their target transformed, an output for each transform."""
    columns = [cast(transform.forward(rows.Y), rows.Y.dtype) for transform in transforms]
    Y = namespace(rows.Y).concat(columns, axis=1)
    return ArrayRows.of(rows._replace(Y=Y), chunk_size)


def _fit_mean(
    model: Any, opened: Opened, settings: Settings, *, blind: bool = False
) -> FittedStack:
    """Fit a stack, of `blind` neurons where it is only to be compared with others."""
    dtype, specs = opened.training.dtype, settings.specs
    rows, labels = weighty_rows(opened.rows, opened.labels)
    rows, worth, factor = bounded_weights(rows, labels)
    scaled = standardised(rows, dtype)
    rule = in_mean_weights(settings.rule, scaled.weight)
    if any(scaled.constant):
        warn_constant(scaled.constant, scaled.targets, opened.transform)
    eps = epsilon(dtype, namespace(rows.like))
    size = max(pool_rows(len(scaled.rows)), *(spec.n_neurons for spec in specs or ()), 0)
    seed, is_class = opened.training.seed, opened.classes is not None
    pool = Pool.of(scaled.rows, scaled.inputs, labels, size, seed, eps, classes=is_class)
    pool = replace(
        pool,
        weight=scaled.weight,
        worth=worth,
        factor=factor,
        values=scaled.values,
        prints=scaled.prints,
        may_narrow=model.precision == "auto",
    )
    of_targets = scaled.targets, opened.transform, opened.single_output, opened.precision
    units = TargetUnits(*of_targets)
    if not blind:
        units = _with_limits(model, opened, units, scaled.ends, len(scaled.rows))
    chosen = ChosenRounds(0)
    if specs is None and not blind:
        chosen = chosen_rounds(pool, rule, settings.rounds)
    most = model.n_estimators
    stack = fit_stack(pool, specs, rule, most, chosen.rounds, settings.most, found=chosen.stack)
    local = None
    if not blind and (pool.n_distinct >= LEAST_ROWS or not is_auto(model.local_layers)):
        local = fit_local_layers(model, opened.inputs, settings, pool, stack)
    return FittedStack(pool, rule, stack, chosen, local, units)


def _with_limits(
    model: Any, opened: Opened, units: TargetUnits, ends: Extent, n_rows: int
) -> TargetUnits:
    """Note what training targets, transformed but not standardised, say of others."""
    transform = opened.transform
    asked = asked_range(model.target_range, transform, int(ends.low.shape[0]), ends)
    if opened.classes is not None:
        return replace(units, range=asked)
    if is_auto(model.target_range) and is_auto(model.target_transform):
        asked = found_range(ends_in_units(ends, transform), n_rows)
    support = Support.of(ends, units.scaling, transform, n_rows)
    return replace(units, support=support, range=asked)


def _scores(
    pool: Pool, recipe: Recipe, closed: RowScores, chosen: ChosenRounds
) -> tuple[OutputScores, ...]:
    """Return the scores of rows left out, of those held out where rows are few."""
    # A limit to the number of members or neurons is for each fit to keep.
    limited = recipe.most is not None or recipe.max_neurons < MAX_NEURONS
    known = () if limited else chosen.held_out
    scores = cross_fitted(pool, recipe, closed, known).outputs(pool.factor)
    kept = tuple(output.thinned() for output in scores)
    _warn_few(pool, kept)
    return kept


def _warn_few(pool: Pool, scores: tuple[OutputScores, ...]) -> None:
    """Say that so few rows, or groups, do not tell how far off a prediction may be."""
    worth = min(pool.worth, *(output.both.n for output in scores))
    n, what, least = pool.n_distinct, "different rows", _LEAST_ROWS
    if pool.labels is not None:
        n, what, least = len(np.unique(pool.labels)), "groups", _LEAST_GROUPS
    # Of targets that are all equal there is nothing to be known, and another warning says so.
    if min(n, worth) >= least or not any(output.both.t[-1] > 0 for output in scores):
        return
    told, wanted = f"{n} {what}", f"{least} {what.split()[-1]} or more"
    if worth <= _AS_MANY * n:
        told += f" whose weights make them worth {worth:.3g}"
        wanted += ", with weights that differ less"
    warnings.warn(
        f"{told} are too few to tell how far off predictions may be: their intervals are rough "
        f"guesses, so train on {wanted}.",
        UserWarning,
        stacklevel=level_of_caller(),
    )


def _with_values(
    model: Any,
    pool: Pool,
    units: TargetUnits,
    fitted: FittedPredictive,
    calibration: Calibration,
) -> TargetUnits:
    """Note the values of targets that bounds move to, where rows left out gain by it."""
    auto = is_auto(model.target_range) and is_auto(model.target_transform)
    same = isinstance(units.transform, Identity) and fitted.symmetric
    if pool.classes or pool.values is None or not (auto and same) or units.range is None:
        return units
    values = pool.values.few()
    if not any(values):
        return units
    multipliers = [calibration.symmetric(LEVEL, j) for j in range(len(values))]
    gaining = gaining_values(values, fitted.left_out, units.scaling, multipliers, units.range)
    if gaining is None:
        return units
    parts = zip(units.range, pool.values.ends(), gaining, values, strict=True)
    within = tuple(
        narrowed(ends, other) if found == known else ends for ends, other, found, known in parts
    )
    return replace(units, values=gaining, range=within)


def _new_levels(
    pool: Pool, stack: MeanStack, encoder: EncoderState | None, calibration: Calibration
) -> NewLevels | None:
    """Return what levels of categories that training did not have add to variances."""
    found = NewLevels.of(pool, stack.mean, None if encoder is None else encoder.one_hot)
    if found is None:
        return None
    Y = to_numpy(double(pool.distinct.rows.Y))
    multipliers = [calibration.symmetric(0.9, j) for j in range(Y.shape[1])]
    return found.bounded(np.array(multipliers), np.ptp(Y, axis=0))


def _notes(
    pool: Pool, stack: MeanStack, predictive: Predictive | None, units: TargetUnits
) -> Notes:
    """Note what a stack depends on, and what its sampled rows are like."""
    noise = () if predictive is None else predictive.noise
    known = pool.distinct
    with np.errstate(all="ignore"):
        inputs = Histograms.of(known.rows.X, row_weights(known.rows))
        targets = Histograms.of(units.values_of(known.Y), known.s)
        histograms = TrainingHistograms(inputs, targets)
        return Notes(stack_dependences(pool, stack, noise), histograms, pool.prints)
