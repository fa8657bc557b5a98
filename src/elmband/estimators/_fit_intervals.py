"""How interval models are fitted: the published two stages, or a stack with a log-variance."""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.base import is_classifier

from elmband.engines import engine
from elmband.estimators._fit_mean import LeftOutRows, fit_layer, notes_of_stack, stack_of
from elmband.estimators._open_rows import Opened
from elmband.estimators._placement import SINGLE_LAYER_NEURONS, layer_spec, layer_specs
from elmband.estimators._validate import check_alpha, check_choice, check_symmetric
from elmband.ground.arrays import cast, double, namespace, to_numpy
from elmband.ground.callers import level_of_caller
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.output_layer import AlphaRule, in_mean_weights
from elmband.layers.select import keep
from elmband.models.fitted import Fitted, Second
from elmband.models.target_units import TargetUnits
from elmband.sources.encode import EncoderState
from elmband.sources.hidden_cache import keeping
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool
from elmband.stacks.search import MAX_NEURONS
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows
from elmband.uncertainty.calibrate import Calibration, OutputScores
from elmband.uncertainty.cross_fit import Recipe, cross_fitted
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.mean import MeanModel, draw_hidden
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.noise.fast import multiplier_error
from elmband.uncertainty.noise.layers import smooth_spec
from elmband.uncertainty.noise.sampled import fit_fast, from_kept
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import FittedPredictive, NoiseSettings, fit_predictive
from elmband.uncertainty.rounds import ChosenRounds
from elmband.uncertainty.target_values import LEVEL, gaining_values
from elmband.uncertainty.targets import is_auto, narrowed
from elmband.uncertainty.transform import Identity, Transform
from elmband.uncertainty.transform_choice import (
    best_of,
    left_out_score,
    sample_of,
    transforms_to_try,
)

# From so many rows on intervals cover as often as they say, on average over data sets.
_LEAST_ROWS = 15
# So do they for new groups from so many groups on.
_LEAST_GROUPS = 6
# Rows are worth as many as they are but for such a share.
_AS_MANY = 0.9


class FittedRows(NamedTuple):
    """A fit, the pool of rows that it was judged on, and how often neurons might learn."""

    pool: Pool
    fitted: FittedPredictive
    rounds: ChosenRounds
    units: TargetUnits


class Fit(Protocol):
    """A fit to rows, with blind neurons where it is only to be compared."""

    def __call__(self, opened: Opened, *, blind: bool = False) -> FittedRows: ...


def fit_intervals(
    model: Any, opening: Callable[[], Opened], *, grouped: bool
) -> tuple[Fitted, LeftOutRows]:
    """Fit mean, noise and multipliers, and return them with what is said of rows left out."""
    check_choice(model.noise, ("log", "squared"), "noise")
    check_choice(model.calibration, ("loo", "gaussian"), "calibration")
    check_choice(model.covariance, ("jackknife", "wild"), "covariance")
    check_choice(model.mode, ("auto", "exact", "fast"), "mode")
    check_symmetric(model.symmetric)
    rule, noise_rule = check_alpha(model.alpha), model.noise_alpha
    if noise_rule is not None:
        noise_rule = check_alpha(noise_rule, "noise_alpha")
    if model.noise == "squared":
        _check_published(model, grouped=grouped)
        return _fit_squared(model, opening(), rule, noise_rule)
    return _fit_log(model, opening, rule, noise_rule)


def _check_published(model: Any, *, grouped: bool) -> None:
    """Refuse parameters that the published model does not have."""
    if grouped or not model.symmetric or (model.n_estimators or 1) > 1:
        raise ValueError(
            "groups, symmetric=False and n_estimators need noise='log'; the published noise "
            "model has one layer and leaves out single rows."
        )
    special = (model.noise_neurons, model.selection) != (None, None)
    if model.mode == "fast" and (special or model.covariance != "jackknife"):
        raise ValueError(
            "mode='fast' has one hidden layer for both models and the jackknife: leave "
            "noise_neurons, selection and covariance as they are."
        )


def _fit_squared(
    model: Any, opened: Opened, rule: AlphaRule, noise_rule: AlphaRule | None
) -> tuple[Fitted, LeftOutRows]:
    """Run the published algorithm."""
    specs = layer_specs(model) or [layer_spec(model, SINGLE_LAYER_NEURONS)]
    with keeping(opened.rows, partly=model.mode != "fast"):
        mean, fitted = fit_layer(model, opened, specs[0], rule)
        return with_second(model, fitted, mean, rule if noise_rule is None else noise_rule)


def with_second(
    model: Any, fitted: Fitted, mean: MeanModel, rule: AlphaRule, *, from_grown: bool = False
) -> tuple[Fitted, LeftOutRows]:
    """Go on from the mean: noise, covariances and multipliers, or from rows that were kept."""
    grown = fitted.grown if from_grown else None
    sample, seed = None if grown is None else grown.kept, fitted.training.seed
    hidden, features = _noise_layer(model, mean, seed)
    rule = in_mean_weights(rule, mean.weight)
    with engine.calm(max(mean.hidden.n_neurons, hidden.n_neurons)):
        if grown is None or sample is None:
            noise = _fit_noise(model, mean, features, rule, seed)
        else:
            noise = from_kept(mean, rule, sample, grown.squares)
    error = noise.error
    if sample is not None and model.calibration == "loo":
        error = math.hypot(error, multiplier_error(sample.n))
    if noise.selection is not None:
        hidden = keep(hidden, noise.selection.neurons)
    scores: tuple[OutputScores, ...] = ()
    if model.calibration == "loo":
        rows = mean.rows if sample is None else ArrayRows.of(sample)
        scores = noise.scores(replace(mean, rows=rows))
    alpha = fitted.targets.shaped(noise.layer.alpha * mean.weight)
    found = replace(
        fitted,
        noise=noise.without_rows(),
        second=Second(hidden, alpha, error),
        # Published intervals are those of the equations.
        new_levels=None,
        calibration=Calibration(model.calibration, scores),
        symmetric=True,
        reweighted=False,
        stale=False,
    )

    def left_out() -> LeftOut:
        return noise.left_out(mean, mean.some_rows(seed) if sample is None else sample)

    return found, left_out


def _fit_noise(
    model: Any, mean: MeanModel, features: FeatureMap | None, rule: AlphaRule, seed: int
) -> SquaredNoise:
    if model.mode == "fast":
        return fit_fast(mean, rule, seed)
    return SquaredNoise.fit(
        mean,
        features,
        rule,
        selection=model.selection,
        covariance=model.covariance,
        seed=seed,
    )


def _noise_layer(model: Any, mean: MeanModel, seed: int) -> tuple[HiddenLayer, FeatureMap | None]:
    """Draw the published noise model's own hidden layer, if it shall have one."""
    if model.noise_neurons is None and model.selection is None:
        return mean.hidden, None
    if model.noise_neurons is not None:
        spec = layer_spec(model, model.noise_neurons)
    else:
        # Neurons selected for the mean may not be able to tell the level of r².
        spec = (layer_specs(model) or [layer_spec(model, SINGLE_LAYER_NEURONS)])[0]
    # Another seed: the noise model's neurons shall not repeat those of the mean model.
    hidden = draw_hidden(mean.rows, mean.inputs, spec, seed + 1)
    features = FeatureMap(mean.inputs, hidden).to(mean.rows.like, mean.rows.dtype)
    return hidden, features


def _fit_log(
    model: Any, opening: Callable[[], Opened], rule: AlphaRule, noise_rule: AlphaRule | None
) -> tuple[Fitted, LeftOutRows]:
    """Fit a stack, a log-variance on top, and scores of rows left out."""
    if isinstance(noise_rule, str) and noise_rule != "loo":
        raise ValueError("noise_alpha must be a number or 'loo' where noise='log'.")
    if model.selection is not None or model.covariance != "jackknife":
        raise ValueError("selection and covariance='wild' need noise='squared'.")
    specs = layer_specs(model)
    opened = opening()
    # One more input than X has: the predicted mean.
    smooth = smooth_spec(int(opened.rows.like.shape[1]) + 1)
    settings = _noise_settings(model, smooth, rule, noise_rule, chosen=specs is None)

    def fit(opened: Opened, *, blind: bool = False) -> FittedRows:
        pool, stack, rounds, local, units = stack_of(model, opened, specs, rule, blind=blind)
        noise = settings.in_mean_weights(pool.weight)
        if blind:
            spec = noise.spec or smooth
            noise = noise._replace(symmetric=True, spec=spec, mean_rule=None)
        return FittedRows(pool, fit_predictive(pool, stack, noise, local), rounds, units)

    pool, fitted, chosen, units = _fit_best_transform(model, opened, fit)
    predictive = fitted.predictive
    if model.mode != "exact":
        predictive = predictive.faster(pool.distinct.rows.X)
    stack = predictive.stack
    # Scores of rows held out are for the same kind of model: one whose mean was not trained
    # again has other variances.
    decided = settings._replace(symmetric=fitted.symmetric, reweight=fitted.reweighted)
    scores: tuple[OutputScores, ...] = ()
    if model.calibration == "loo":
        recipe = Recipe(specs, rule, model.n_estimators, decided, chosen.rounds, model.max_neurons)
        scores = _scores(pool, recipe.in_mean_weights(pool.weight), fitted.row_scores, chosen)
    calibration = Calibration(model.calibration, scores)
    units = _with_values(
        model, pool, units, fitted.left_out, calibration, symmetric=fitted.symmetric
    )
    found = Fitted(
        opened.inputs,
        opened.training,
        units,
        stack,
        predictive,
        new_levels=_new_levels(pool, stack, opened.inputs.encoder, calibration),
        calibration=calibration,
        symmetric=fitted.symmetric,
        reweighted=fitted.reweighted,
        classes=opened.classes,
        notes=notes_of_stack(pool, stack, predictive, units),
    )
    if chosen.has_held_out:
        return found, lambda: chosen.left_out(decided.in_mean_weights(pool.weight))
    return found, lambda: fitted.left_out


def _fit_best_transform(model: Any, opened: Opened, fit: Fit) -> FittedRows:
    """Fit rows whose targets are as given, transformed if that is asked for and worth it.

    Transforms are tried on all rows where they are few, else on a sample of them. They are outputs
    of one fit with blind neurons: hidden outputs are the same for all.
    """
    rows, options = opened.rows, _options(model, opened)
    if not options:
        return fit(opened)
    whole = rows.whole()
    sample, some = sample_of(whole, opened.labels, opened.training.seed)
    transforms = (Identity(), *options)
    tried = opened._replace(rows=_transformed(sample, transforms, rows.chunk_size), labels=some)
    _, fitted, _, units = fit(tried, blind=True)
    scores = [
        left_out_score(fitted.left_out, fitted.scores, units.scaling, transform, j)
        for j, transform in enumerate(transforms)
    ]
    best = transforms[best_of(scores)]
    there = _transformed(whole, (best,), rows.chunk_size)
    return fit(opened._replace(rows=there, transform=best))


def _options(model: Any, opened: Opened) -> list[Transform]:
    """Return the transforms to try: none of several outputs, of separate tails, or unless asked."""
    # Skewness that a transform takes away needs no tails of their own: transforms come first.
    asked = model.target_transform == "auto" and model.symmetric and opened.classes is None
    rows = opened.rows
    if not asked or not isinstance(rows, ArrayRows) or int(rows.Y.shape[1]) > 1:
        return []
    return transforms_to_try(rows.Y, rows.s)


def _transformed(rows: Chunk, transforms: Sequence[Transform], chunk_size: int) -> ArrayRows:
    """Return rows with their target transformed, an output for each transform."""
    columns = [cast(transform.forward(rows.Y), rows.Y.dtype) for transform in transforms]
    Y = namespace(rows.Y).concat(columns, axis=1)
    return ArrayRows.of(rows._replace(Y=Y), chunk_size)


def _noise_settings(
    model: Any, smooth: Any, rule: AlphaRule, noise_rule: Any, *, chosen: bool
) -> NoiseSettings:
    """Return how noise is to be learned, of a stack that was `chosen` or of layers asked for."""
    asked = None if model.noise_neurons is None else layer_spec(model, model.noise_neurons)
    return NoiseSettings(
        # Steep neurons would take the places where classes meet for noise.
        spec=smooth if asked is None and is_classifier(model) else asked,
        alpha=noise_rule if isinstance(noise_rule, float) else None,
        # Normal multipliers are the same for both tails unless these are asked for.
        symmetric=model.symmetric if model.calibration == "loo" else bool(model.symmetric),
        # Layers that are asked for are least squares, and classes have no noise of their own.
        mean_rule=rule if chosen and not is_classifier(model) else None,
    )


def _scores(
    pool: Pool, recipe: Recipe, found: Any, chosen: ChosenRounds
) -> tuple[OutputScores, ...]:
    """Return the scores of rows left out, of those held out where rows are few."""
    # A limit to the number of members or neurons is for each fit to keep.
    limited = recipe.most is not None or recipe.max_neurons < MAX_NEURONS
    known = () if limited else chosen.held_out
    scores = cross_fitted(pool, recipe, found, known).outputs(pool.factor)
    _warn_few(pool, scores)
    return tuple(output.thinned() for output in scores)


def _with_values(
    model: Any,
    pool: Pool,
    units: TargetUnits,
    left_out: LeftOut,
    calibration: Calibration,
    *,
    symmetric: bool,
) -> TargetUnits:
    """Note the values of targets that bounds move to, where rows left out gain by it."""
    found = is_auto(model.target_range) and is_auto(model.target_transform)
    same = not units.transformed and symmetric
    if pool.classes or pool.values is None or not (found and same) or units.range is None:
        return units
    values = pool.values.few()
    if not any(values):
        return units
    multipliers = [calibration.symmetric(LEVEL, j) for j in range(len(values))]
    gaining = gaining_values(values, left_out, units.scaling, multipliers, units.range)
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
