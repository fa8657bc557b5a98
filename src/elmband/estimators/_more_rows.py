"""Models that grow: rows added, models trained apart put together, and noise brought up to date."""

import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from elmband.engines.checkpoint import described
from elmband.estimators._arrays import held_out_rows, with_weight
from elmband.estimators._class_targets import check_known_levels, known_labels, label_encoder
from elmband.estimators._fit_layer import LeftOutRows, fit_noise_stage, layer_of, layer_units
from elmband.estimators._open_rows import Opened, count_targets, moved, transformed
from elmband.estimators._parameters import (
    check_alpha,
    check_chunk_size,
    check_precision,
    layer_specs,
)
from elmband.estimators._progress import fit_progress
from elmband.estimators._scans import (
    check_new_scan,
    check_targets,
    refuse_beside_scan,
    scan_rows,
)
from elmband.estimators.ask import new_rows
from elmband.estimators.tables import rows_to_fit
from elmband.ground.arrays import double, epsilon, namespace
from elmband.ground.callers import level_of_caller
from elmband.models.fitted import Fitted, Layer, Notes
from elmband.models.grown import Grown, check_growing_rule, same_rows
from elmband.models.target_units import TargetUnits
from elmband.sources.stream import Scan
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, ArrayRows, Rows
from elmband.uncertainty.classes import Labels
from elmband.uncertainty.mean import MeanModel

_ONLY_GROWN = "refresh is for models that partial_fit or merge has changed."


def check_single_layer(model: Any) -> bool:
    """Tell that rows can be added to a model, or why they cannot."""
    auto = isinstance(model.n_neurons, str)
    single = not auto and model.n_estimators in (None, 1)
    transformed = model.target_transform not in (None, "auto")
    if not single or model.selection is not None or transformed:
        raise AttributeError(
            "partial_fit is for a single layer: give n_neurons a number or a mix, and leave "
            "n_estimators, selection and target_transform as they are."
        )
    return True


def check_one_noise_layer(model: Any) -> None:
    """Refuse to add rows to other noise models than the published one with a shared layer."""
    if model.noise != "squared":
        raise AttributeError("partial_fit needs noise='squared', the published noise model.")
    if model.noise_neurons is not None or model.covariance != "jackknife":
        raise AttributeError(
            "partial_fit has one hidden layer for both models and the jackknife: leave "
            "noise_neurons and covariance as they are."
        )


def with_more(
    model: Any,
    X: Any,
    y: Any,
    weight: Any,
    declared: Labels | None,
    *,
    opening: Callable[..., Opened],
    regrown: Callable[[Fitted, Grown | None, Rows, MeanModel], Fitted],
) -> Fitted:
    """Add rows to those that a model was trained on, or begin with them.

    The first rows may lack some of the classes that were `declared`.
    """
    rule = check_alpha(model.alpha)
    check_growing_rule(rule)
    check_precision(model.precision)
    specs = layer_specs(model)
    assert specs is not None
    known: Fitted | None = vars(model).get("fitted_")
    if known is None:
        opened = opening(rows_to_fit(X, weight), y, weight, declared=declared)
        rows, training = opened.rows, opened.training
        eps = epsilon(training.dtype, namespace(rows.like))
        before = Grown.begin(rows, specs[0], training.dtype, eps, training.seed)
        inputs, classes = opened.inputs, opened.classes
        units = TargetUnits(
            before.targets, opened.transform, opened.single_output, opened.precision
        )
    elif known.grown is not None:
        rows, before, training = more_rows(model, X, y, weight), known.grown, known.training
        units, inputs, classes = known.targets, known.inputs, known.classes
    else:
        raise ValueError(
            "fit has trained what cannot grow, with other parameters; begin with partial_fit on a "
            "new model."
        )
    grown = before.plus(rows, training.seed)
    mean = grown.mean_model(rows, rule)
    units = layer_units(model, units, mean)
    layer = layer_of(mean, units)
    if known is None:
        found = Fitted(inputs, training, units, layer, classes=classes, grown=grown)
    else:
        found = replace(known, targets=units, mean=layer, grown=grown, notes=Notes())
    return regrown(found, before, rows, mean)


def more_rows(model: Any, X: Any, y: Any, weight: Any) -> Rows:
    """Check rows to train on beside those that a model knows."""
    fitted: Fitted = model.fitted_
    classes, training = fitted.classes, fitted.training
    if classes is not None and isinstance(X, Scan):
        check_new_scan(model, X)
        check_known_levels(model, X, fitted.inputs.encoder)
    elif classes is not None:
        if y is None:
            raise ValueError(f"{type(model).__name__} needs y, the labels of the rows.")
        labels = known_labels(y, classes)
        y, weight = classes.codes(labels), classes.row_weights(labels, weight)
    X = new_rows(model, X, "partial_fit")
    rows: Rows
    if isinstance(X, Scan):
        refuse_beside_scan(y=y, sample_weight=weight)
        check_targets(model, X, count_targets(fitted))
        prepare = transformed(fitted.targets.transform)
        if classes is not None:
            prepare = label_encoder(classes, fitted.inputs.encoder)
        rows = scan_rows(X, prepare, training.dtype, model.chunk_size)
    else:
        X, Y, s = with_weight(X, *held_out_rows(X, y, weight, fitted.targets.count))
        rows = ArrayRows(X, Y, s, check_chunk_size(model.chunk_size, DEFAULT_CHUNK_SIZE))
    return moved(model, rows, training.device, training.dtype)[0]


def with_old_noise(
    model: Any, fitted: Fitted, before: Grown | None, rows: Rows, mean: MeanModel
) -> Fitted:
    """Return a model whose noise is older than its mean, with squares of the residuals so far."""
    grown = fitted.grown
    assert grown is not None
    # Rows that were added without squares leave nothing to go on from.
    known = before is not None and (before.sums is None or before.noise is not None)
    if model.mode == "fast" and before is not None and known:
        grown = grown.with_noise(before.noise, mean, rows)
    return replace(fitted, grown=grown, stale=True)


def no_rows(fitted: Fitted) -> Rows:
    """Return rows as those of a model, none of them."""
    assert isinstance(fitted.mean, Layer)
    like = fitted.mean.features.inputs.mean[None, :][:0, :]
    return ArrayRows(like, double(fitted.targets.scaling.mean)[None, :][:0, :])


def grown_of(fitted: Fitted, message: str) -> Grown:
    """Return the sums of a model that rows were added to; refuse others with a message."""
    if fitted.grown is None or fitted.grown.sums is None:
        raise ValueError(message)
    return fitted.grown


def refreshed(model: Any, X: Any, y: Any, weight: Any) -> tuple[Fitted, LeftOutRows]:
    """Return a model whose noise is as old as its mean, and what is said of rows left out."""
    known: Fitted | None = vars(model).get("fitted_")
    if known is None:
        raise ValueError(_ONLY_GROWN)
    grown = grown_of(known, _ONLY_GROWN)
    if known.calibration is not None and known.calibration.kind == "conformal":
        warnings.warn(
            "refresh takes multipliers from the training rows; call calibrate again for its "
            "guarantee.",
            UserWarning,
            stacklevel=level_of_caller(),
        )
    rule = check_alpha(model.alpha)
    noise_rule = rule if model.noise_alpha is None else check_alpha(model.noise_alpha)
    if X is None:
        if model.mode != "fast" or grown.sample is None:
            raise ValueError(
                "refresh needs the rows that the mean was trained on: refresh(X, y); only "
                "mode='fast' with partial_fit from the first row on keeps a sample of them."
            )
        # Leave-one-out would need all rows.
        noise_rule = "gcv" if noise_rule in ("auto", "loo") else noise_rule
        mean = grown.mean_model(no_rows(known), rule)
        return fit_noise_stage(model, known, mean, noise_rule, from_grown=True)
    with fit_progress(model, X, None):
        rows = same_rows(more_rows(model, X, y, weight), grown)
        return fit_noise_stage(model, known, grown.mean_model(rows, rule), noise_rule)


M = TypeVar("M")


def merge(one: M, other: M) -> M:
    """Return the model of the rows of both, which were trained apart on the same hidden layer.

    It equals one model trained on all rows. Intervals have to be refreshed, see
    `ELMIntervalRegressor.refresh`.

    Examples
    --------
    >>> from elmband import ELMRegressor, merge
    >>> from elmband.datasets import make_heteroscedastic
    >>> data = make_heteroscedastic(500, random_state=0)
    >>> first = ELMRegressor(50, random_state=0).partial_fit(data.X[:300], data.y[:300])
    >>> second = first.untrained().partial_fit(data.X[300:], data.y[300:])
    >>> merge(first, second).predict(data.X[:3]).shape
    (3,)
    """
    both: Any = copy(one)
    both.fitted_ = _merged(one, other)
    return both  # type: ignore[no-any-return]


def _merged(one: Any, other: Any) -> Fitted:
    trained = "merge takes models with a single layer that were trained by partial_fit or fit."
    fitted: list[Fitted | None] = [vars(model).get("fitted_") for model in (one, other)]
    if fitted[0] is None or fitted[1] is None:
        raise ValueError(trained)
    mine, theirs = (grown_of(each, trained) for each in fitted if each is not None)
    if described(one.alpha) != described(other.alpha):
        raise ValueError(
            f"These models have different strengths, alpha={one.alpha!r} and {other.alpha!r}; "
            "train both with the same."
        )
    labels = (np.empty(0) if f.classes is None else f.classes.labels for f in fitted if f)
    if not np.array_equal(next(labels), next(labels)):
        raise ValueError("These models have different classes; train both from one untrained().")
    if type(one) is not type(other) or not mine.same_layer(theirs):
        raise ValueError(
            "These models have different hidden layers or scalings, so that their sums do not add "
            "up; train both from one model.untrained()."
        )
    grown, rows = mine.joined(theirs), no_rows(fitted[0])
    mean = grown.mean_model(rows, check_alpha(one.alpha))
    units = layer_units(one, fitted[0].targets, mean)
    found = replace(
        fitted[0], targets=units, mean=layer_of(mean, units), grown=grown, notes=Notes()
    )
    return one._regrown(found, None, rows, mean)  # type: ignore[no-any-return]  # noqa: SLF001
