"""elmband itself, as a user calls it."""

from typing import Any

import numpy as np
from benchmarks.scale.data import File, Rows
from benchmarks.scale.rivals.layer import coverage, rmse
from benchmarks.scale.watch import SkippedError, Watch

import elmband
from elmband import ELMIntervalRegressor, ELMRegressor


def point(source: Rows | File, watch: Watch, **options: Any) -> dict[str, float]:
    """Time the point model."""
    model = _made(ELMRegressor, options)
    with watch("fit"):
        model.fit(*_given(source))
    if isinstance(source, File):
        return {}
    with watch("predict"):
        predicted = model.predict(source.X)
    return {"rmse": rmse(source.y, predicted)}


def interval(source: Rows | File, watch: Watch, **options: Any) -> dict[str, float]:
    """Time the model with intervals: the fit, its predictions, and its intervals at 95 %."""
    model = _made(ELMIntervalRegressor, options)
    with watch("fit"):
        model.fit(*_given(source))
    if isinstance(source, File):
        return {}
    with watch("predict"):
        predicted = model.predict(source.X)
    with watch("interval"):
        bounds = model.predict_interval(source.X, confidence_level=0.95)
    return {"rmse": rmse(source.y, predicted), "coverage": coverage(source.y, bounds)}


def small(dtype: str, watch: Watch) -> dict[str, float]:
    """Time defaults on few rows: fit and intervals together are what a user waits for."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 8)).astype(dtype)
    y = np.sin(X[:, 0]) + 0.2 * rng.standard_normal(1000).astype(dtype)
    with watch("both"):
        with watch("fit"):
            model = ELMIntervalRegressor(random_state=0).fit(X, y)
        with watch("interval"):
            bounds = model.predict_interval(X, confidence_level=0.95)
    return {"coverage": coverage(y, bounds)}


def _made(estimator: Any, options: dict[str, Any]) -> Any:
    try:
        return estimator(random_state=0, **options)
    except TypeError as error:
        raise SkippedError(f"this elmband does not know it: {error}") from error


def _given(source: Rows | File) -> tuple[Any, ...]:
    """Return the arguments of `fit`: arrays, or a lazy table over a file."""
    if isinstance(source, Rows):
        return source
    scan = getattr(elmband, "scan", None)
    if scan is None:
        raise SkippedError("this elmband has no scan")
    return (scan(source.path, **source.scan),)
