"""Every way to the GPU against the float64 fit on the processor."""

from typing import Any

import numpy as np
import torch
from benchmarks.gpu.data import layer, rows
from sklearn import config_context

from elmband import ELMIntervalRegressor, scan

ROWS = 200_000
OPTIONS = {"alpha": 1e-3, "noise": "squared", "calibration": "gaussian", "random_state": 0}


def errors() -> list[dict[str, Any]]:
    """Return how far covariances and bounds are from the reference, way by way."""
    X, y = rows(ROWS)
    some = X[:2000]
    reference = ELMIntervalRegressor(layer(347), precision="float64", **OPTIONS)
    reference.fit(X.astype(np.float64), y.astype(np.float64))
    table = []
    for name, model in _ways(X, y):
        bounds = model.predict_interval(_like(model.coef_, some) if name == "resident" else some)
        found = {
            "way": name,
            "precision": model.precision,
            "covariance": _gap(model.covariance_, reference.covariance_),
            "noise_covariance": _gap(model.noise_covariance_, reference.noise_covariance_),
            "bounds": float(
                np.abs(_numpy(bounds) - reference.predict_interval(some.astype(np.float64))).max()
            ),
        }
        table.append(found)
    return table


def _ways(X: Any, y: Any) -> Any:
    there = torch.from_numpy(X).cuda(), torch.from_numpy(y).cuda()
    for precision in ("auto", "high", "fast"):
        model = ELMIntervalRegressor(layer(347), precision=precision, **OPTIONS)
        with config_context(array_api_dispatch=True):
            yield "resident", model.fit(*there)
    moved = ELMIntervalRegressor(layer(347), device="cuda", **OPTIONS)
    yield "NumPy", moved.fit(X, y)
    streamed = ELMIntervalRegressor(layer(347), device="cuda", **OPTIONS)
    yield "scan", streamed.fit(scan((X, y)))
    exact = ELMIntervalRegressor(layer(347), device="cuda", precision="float64", **OPTIONS)
    yield "NumPy", exact.fit(X, y)


def _like(array: Any, values: Any) -> Any:
    return torch.from_numpy(values).to(array.device)


def _numpy(array: Any) -> Any:
    return array.cpu().numpy() if isinstance(array, torch.Tensor) else array


def _gap(found: Any, reference: Any) -> float:
    """Return the largest difference of entries, by the largest entry."""
    return float(np.abs(_numpy(found) - reference).max() / np.abs(reference).max())
