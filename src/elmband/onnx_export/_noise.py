"""Variances of rows, by the published noise model or by the log-variance."""

from typing import NamedTuple

from elmband._arrays import to_numpy
from elmband.noise.log import _MOST_UNCERTAINTY, LogNoise
from elmband.noise.squared import SquaredNoise
from elmband.onnx_export._fitted import Fitted
from elmband.onnx_export._functions import expm1, positive
from elmband.onnx_export._graph import DOUBLE, Tensor, joined
from elmband.onnx_export._hidden import hidden_outputs
from elmband.onnx_export._mean import mean_deviation
from elmband.onnx_export._quadratic import low_rank_form, quadratic, quadratic_form


class Parts(NamedTuple):
    """Variances of standardised targets in parts, each (n, m)."""

    noise: Tensor
    mean_model: Tensor
    noise_model: Tensor


class Totals(NamedTuple):
    """The whole variance, and those of the tails below and above, each (n, m)."""

    both: Tensor
    below: Tensor
    above: Tensor


def variance_parts(X: Tensor, mean: Tensor, fitted: Fitted) -> Parts:
    """Return the variances of rows whose standardised mean is known."""
    if fitted.noise is not None:
        return _squared_parts(X, fitted, fitted.noise)
    assert fitted.stack is not None
    models = _log_models(fitted, "both")
    noise, excess = zip(*_log_variances(X, mean, models), strict=True)
    std = mean_deviation(X, fitted.stack)
    return Parts(joined(list(noise)), std * std, joined(list(excess)))


def variance_totals(X: Tensor, mean: Tensor, fitted: Fitted) -> Totals:
    """Return the whole variance of rows."""
    if fitted.noise is not None:
        total = _squared_total(X, fitted, fitted.noise).to(DOUBLE)
        return Totals(total, total, total)
    assert fitted.stack is not None
    std = mean_deviation(X, fitted.stack)

    def total_of(tail: str) -> Tensor:
        variances = _log_variances(X, mean, _log_models(fitted, tail))
        return joined([noise + excess for noise, excess in variances]) + std * std

    both = total_of("both")
    if fitted.symmetric:
        return Totals(both, both, both)
    return Totals(both, total_of("below"), total_of("above"))


def _squared_parts(X: Tensor, fitted: Fitted, model: SquaredNoise) -> Parts:
    """Return the parts of the published variance; negative noise is replaced by zero."""
    assert fitted.features is not None
    H = hidden_outputs(X, fitted.features)
    noise_H = H if model.features is None else hidden_outputs(X, model.features)
    return Parts(
        noise=positive(noise_H @ model.layer.coef).to(DOUBLE),
        mean_model=joined([quadratic(H, S) for S in to_numpy(model.mean_covariance)]).to(DOUBLE),
        noise_model=joined([quadratic(noise_H, S) for S in to_numpy(model.noise_covariance)]).to(
            DOUBLE
        ),
    )


def _squared_total(X: Tensor, fitted: Fitted, model: SquaredNoise) -> Tensor:
    """Return the published variance, at half the cost of its parts where there is one layer."""
    if model.features is not None:
        noise, mean_model, noise_model = _squared_parts(X, fitted, model)
        return noise + noise_model + mean_model
    assert fitted.features is not None
    H = hidden_outputs(X, fitted.features)
    noise = positive(H @ model.layer.coef)
    if model.low_rank is not None:
        return noise + low_rank_form(H, model.low_rank)
    both = to_numpy(model.mean_covariance) + to_numpy(model.noise_covariance)
    return noise + joined([quadratic(H, S) for S in both])


class _LogModel(NamedTuple):
    """A log-variance, and the sign of the mean beside its inputs."""

    model: LogNoise
    orientation: float


def _log_models(fitted: Fitted, tail: str) -> list[_LogModel]:
    """Return the models of all outputs, of both tails together or of one of them."""
    assert fitted.predictive is not None
    return [
        _LogModel(getattr(models, tail), models.orientation) for models in fitted.predictive.noise
    ]


def _log_variances(X: Tensor, mean: Tensor, models: list[_LogModel]) -> list[tuple[Tensor, Tensor]]:
    """Return e^η and e^η (e^(v/2) - 1) of every output, each (n, 1)."""
    found = []
    for column, (model, orientation) in zip(mean.split(len(models)), models, strict=True):
        beside = joined([X.to(DOUBLE), column * orientation])
        H = hidden_outputs(beside, model.features) - model.centre
        log = H @ to_numpy(model.coef)[:, None] + model.level
        low, high = model.range
        noise = log.apply("Max", low).apply("Min", high).apply("Exp")
        uncertainty = quadratic_form(H, model.covariance).apply("Min", _MOST_UNCERTAINTY)
        found.append((noise, noise * expm1(uncertainty * 0.5)))
    return found
