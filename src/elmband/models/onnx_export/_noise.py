"""Variances of rows, by the published noise model or by the log-variance."""

from typing import NamedTuple

from elmband.ground.arrays import to_numpy
from elmband.models.fitted import Fitted
from elmband.models.onnx_export._functions import expm1, positive
from elmband.models.onnx_export._graph import DOUBLE, Tensor, joined
from elmband.models.onnx_export._hidden import hidden_outputs
from elmband.models.onnx_export._local import local_factor
from elmband.models.onnx_export._mean import mean_variance
from elmband.models.onnx_export._quadratic import low_rank_form, quadratic, quadratic_form
from elmband.stacks.local_layers import LocalNoise
from elmband.uncertainty.noise.log import _MOST_UNCERTAINTY, LogNoise
from elmband.uncertainty.noise.squared import SquaredNoise


class Variances(NamedTuple):
    """Noise of standardised targets, and what the models do not know, each (n, m)."""

    noise: Tensor
    model: Tensor


class Totals(NamedTuple):
    """The whole variance, and those of the tails below and above, each (n, m)."""

    both: Tensor
    below: Tensor
    above: Tensor


def noise_and_model(X: Tensor, mean: Tensor, fitted: Fitted) -> Variances:
    """Return the variances of rows whose standardised mean is known."""
    if fitted.squared is not None:
        return Variances(*(v.to(DOUBLE) for v in _squared(X, fitted, fitted.squared)))
    models = _log_models(fitted, "both")
    noise, excess = zip(*_log_variances(X, mean, models), strict=True)
    return Variances(joined(list(noise)), _of_mean(X, fitted) + joined(list(excess)))


def variance_totals(X: Tensor, mean: Tensor, fitted: Fitted) -> Totals:
    """Return the whole variance of rows."""
    if fitted.squared is not None:
        total = _squared_total(X, fitted, fitted.squared).to(DOUBLE)
        return Totals(total, total, total)
    of_mean = _of_mean(X, fitted)

    def total_of(tail: str) -> Tensor:
        variances = _log_variances(X, mean, _log_models(fitted, tail))
        return joined([noise + excess for noise, excess in variances]) + of_mean

    both = total_of("both")
    if fitted.symmetric:
        return Totals(both, both, both)
    return Totals(both, total_of("below"), total_of("above"))


def _of_mean(X: Tensor, fitted: Fitted) -> Tensor:
    """Return the variance of the mean of a stack, with what new levels add."""
    assert fitted.stack is not None
    variance, new = mean_variance(X, fitted.stack), fitted.new_levels
    if new is None:
        return variance
    marks = X.to(DOUBLE).apply("Max", -2.0).apply("Min", 2.0)
    far = (((marks * marks) @ new.marks) - 1.0).apply("Abs")
    return variance + (far * (1 / new.mixed)).apply("Min", 1.0) @ new.deviation**2


def _squared(X: Tensor, fitted: Fitted, model: SquaredNoise) -> Variances:
    """Return the published variances; negative noise is replaced by zero."""
    assert fitted.layer is not None
    H = hidden_outputs(X, fitted.layer.features)
    of_mean, of_noise = to_numpy(model.mean_covariance), to_numpy(model.noise_covariance)
    if model.features is None:
        noise = positive(H @ model.layer.coef)
        return Variances(noise, joined([quadratic(H, S) for S in of_mean + of_noise]))
    noise_H = hidden_outputs(X, model.features)
    mean_model = joined([quadratic(H, S) for S in of_mean])
    noise_model = joined([quadratic(noise_H, S) for S in of_noise])
    return Variances(positive(noise_H @ model.layer.coef), mean_model + noise_model)


def _squared_total(X: Tensor, fitted: Fitted, model: SquaredNoise) -> Tensor:
    """Return the whole published variance."""
    if model.low_rank is None:
        noise, uncertain = _squared(X, fitted, model)
        return noise + uncertain
    assert fitted.layer is not None
    H = hidden_outputs(X, fitted.layer.features)
    return positive(H @ model.layer.coef) + low_rank_form(H, model.low_rank)


class _LogModel(NamedTuple):
    """A log-variance, the sign of the mean beside its inputs, and local layers."""

    model: LogNoise
    orientation: float
    local: LocalNoise | None


def _log_models(fitted: Fitted, tail: str) -> list[_LogModel]:
    """Return the models of all outputs, of both tails together or of one of them."""
    assert fitted.predictive is not None
    return [
        _LogModel(getattr(models, tail), models.orientation, models.local)
        for models in fitted.predictive.noise
    ]


def _log_variances(X: Tensor, mean: Tensor, models: list[_LogModel]) -> list[tuple[Tensor, Tensor]]:
    """Return e^η and e^η (e^(v/2) - 1) of every output, each (n, 1)."""
    found = []
    for column, (model, orientation, local) in zip(mean.split(len(models)), models, strict=True):
        beside = joined([X.to(DOUBLE), column * orientation])
        H = hidden_outputs(beside, model.features) - model.centre
        log = H @ to_numpy(model.coef)[:, None] + model.level
        low, high = model.range
        noise = log.apply("Max", low).apply("Min", high).apply("Exp")
        if local is not None:
            factor = local_factor(X, local)
            noise = noise * (factor * factor)
        uncertainty = quadratic_form(H, model.covariance).apply("Min", _MOST_UNCERTAINTY)
        found.append((noise, noise * expm1(uncertainty * 0.5)))
    return found
