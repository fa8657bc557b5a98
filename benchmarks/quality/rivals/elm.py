"""Adaptors of elmband itself, in the order a user meets them."""

from collections.abc import Sequence
from typing import Any

from benchmarks.quality.rivals.base import Floats, Prediction

from elmband import ELMIntervalRegressor


def default(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Run ``ELMIntervalRegressor()`` as it comes."""
    return _run(ELMIntervalRegressor(random_state=seed), X_train, y_train, X_test, levels)


def layer(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Run a single layer of 200 tanh neurons, everything else as it comes."""
    model = ELMIntervalRegressor(n_neurons=200, random_state=seed)
    return _run(model, X_train, y_train, X_test, levels)


def published(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Run the algorithm of the paper: least-squares noise, normal quantiles, 200 neurons."""
    model = ELMIntervalRegressor(
        n_neurons=200, noise="squared", calibration="gaussian", random_state=seed
    )
    return _run(model, X_train, y_train, X_test, levels)


def _run(
    model: Any, X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float]
) -> Prediction:
    model.fit(X_train, y_train)
    mean, std = model.predict(X_test, return_std=True)
    return Prediction(mean, model.predict_interval(X_test, confidence_level=list(levels)), std)
