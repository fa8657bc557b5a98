"""How a single layer is fitted, and the published second stage: noise and covariances on top."""

import math
import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.estimators._open_rows import Opened
from elmband.estimators._parameters import SINGLE_LAYER_NEURONS, Settings, layer_spec, layer_specs
from elmband.ground.arrays import double
from elmband.ground.callers import level_of_caller
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.output_layer import AlphaRule
from elmband.layers.select import keep
from elmband.models.fitted import Fitted, Layer, NoiseStage, Notes
from elmband.models.grown import Grown
from elmband.models.target_units import TargetUnits
from elmband.sources.hidden_cache import keeping
from elmband.stacks.pool import row_weights
from elmband.sums.histograms import Histograms, TrainingHistograms
from elmband.sums.rows import ArrayRows
from elmband.sums.sample import distinct_rows
from elmband.sums.scaling import Scaling
from elmband.uncertainty.calibrate import Calibration, OutputScores
from elmband.uncertainty.dependence import layer_dependence
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.mean import MeanModel, draw_hidden, fit_mean, in_mean_weights
from elmband.uncertainty.noise.fast import multiplier_error
from elmband.uncertainty.noise.parts import Support
from elmband.uncertainty.noise.sampled import fit_fast, from_kept
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.targets import asked_range
from elmband.uncertainty.transform import Transform

LeftOutRows: TypeAlias = Callable[[], LeftOut]

# Rows of a single layer that are looked at.
_ROWS = 4000


def fit_single(model: Any, opened: Opened, settings: Settings) -> tuple[Fitted, LeftOutRows]:
    """Fit the mean of a single layer, and return it with its predictions of rows left out."""
    one_pass = isinstance(settings.rule, float) or settings.rule == "gcv"
    with nullcontext() if one_pass and model.selection is None else keeping(opened.rows):
        mean, fitted = fit_layer(model, opened, settings)
    return fitted, lambda: mean.left_out(mean.some_rows(opened.training.seed))


def fit_published(model: Any, opened: Opened, settings: Settings) -> tuple[Fitted, LeftOutRows]:
    """Run the published algorithm: a layer for the mean, another one for squared residuals."""
    rule = settings.rule if settings.noise_rule is None else settings.noise_rule
    with keeping(opened.rows, partly=model.mode != "fast"):
        mean, fitted = fit_layer(model, opened, settings)
        return fit_noise_stage(model, fitted, mean, rule)


def fit_layer(model: Any, opened: Opened, settings: Settings) -> tuple[MeanModel, Fitted]:
    """Fit a single layer; return it as the second stage goes on with it, and as a model."""
    assert settings.specs is not None
    spec, rule, training = settings.specs[0], settings.rule, opened.training
    with engine.limit_blas(spec.n_neurons):
        mean = fit_mean(opened.rows, spec, rule, training.dtype, training.seed, model.selection)
    warn_constant(mean.constant, mean.targets, opened.transform)
    units = TargetUnits(mean.targets, opened.transform, opened.single_output, opened.precision)
    units = layer_units(model, units, mean)
    fitted = Fitted(
        opened.inputs,
        training,
        units,
        layer_of(mean, units),
        classes=opened.classes,
        grown=Grown.of(mean) if hasattr(model, "partial_fit") else None,
        notes=_notes(mean, units, training.seed),
    )
    return mean, fitted


def warn_constant(constant: Sequence[bool], targets: Scaling, transform: Transform) -> None:
    """Say that constant targets leave nothing to learn; they are transformed ones."""
    for column in np.flatnonzero(constant):
        where = "y" if len(constant) == 1 else f"output {column} of y"
        value = float(transform.inverse(targets.mean[None, :])[0, int(column)])
        warnings.warn(
            f"{where} is constant ({value:g}): the model can only repeat it, "
            "and an interval learned from it has zero width.",
            UserWarning,
            stacklevel=level_of_caller(),
        )


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


def fit_noise_stage(
    model: Any, fitted: Fitted, mean: MeanModel, rule: AlphaRule, *, from_grown: bool = False
) -> tuple[Fitted, LeftOutRows]:
    """Go on from the mean: noise, covariances and multipliers, or from rows that were kept."""
    grown = fitted.grown if from_grown else None
    sample, seed = None if grown is None else grown.kept, fitted.training.seed
    hidden, features = _noise_layer(model, mean, seed)
    rule = in_mean_weights(rule, mean.weight)
    with engine.limit_blas(max(mean.hidden.n_neurons, hidden.n_neurons)):
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
        noise_stage=NoiseStage(hidden, alpha, error),
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
    how = {"selection": model.selection, "covariance": model.covariance, "seed": seed}
    return SquaredNoise.fit(mean, features, rule, **how)


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


def _notes(mean: MeanModel, units: TargetUnits, seed: int) -> Notes:
    """Note what a layer depends on, and what its rows are like, where these are at hand."""
    if not mean.rows.in_memory:
        return Notes(row_prints=mean.prints)
    some = distinct_rows(mean.rows.whole(), mean.inputs, _ROWS, seed)
    s = row_weights(some)
    with np.errstate(all="ignore"):
        dependences = layer_dependence(mean.features, mean.layer.coef, some.X, s)
        targets = Histograms.of(units.values_of(double(some.Y)), s)
        histograms = TrainingHistograms(Histograms.of(some.X, s), targets)
    return Notes(dependences, histograms, mean.prints)
