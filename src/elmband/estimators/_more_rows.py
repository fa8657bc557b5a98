"""Models that rows are added to, and models trained apart put together."""

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from elmband.engines.checkpoint import described
from elmband.estimators._fit_mean import layer_of, layer_units
from elmband.estimators._open_rows import Opened, more_rows
from elmband.estimators._placement import layer_specs
from elmband.estimators._tables import rows_to_fit
from elmband.estimators._validate import check_alpha
from elmband.ground.arrays import double, epsilon, namespace
from elmband.models.fitted import Fitted, Layer, Notes
from elmband.models.grown import Grown, check_growing_rule
from elmband.sums.rows import ArrayRows, Rows
from elmband.uncertainty.classes import Labels
from elmband.uncertainty.mean import MeanModel


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
    specs = layer_specs(model)
    assert specs is not None
    known: Fitted | None = vars(model).get("fitted_")
    if known is None:
        opened = opening(rows_to_fit(X, weight), y, weight, declared=declared)
        rows, training = opened.rows, opened.training
        eps = epsilon(training.dtype, namespace(rows.like))
        before = Grown.begin(rows, specs[0], training.dtype, eps, training.seed)
        units, inputs, classes = opened.units(before.targets), opened.inputs, opened.classes
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
