"""The published algorithm as anyone would write it in NumPy, step by step and in batches.

Nothing here comes from elmband, nothing is clever: every step makes its hidden outputs anew, all
arrays have the dtype of the data, and BLAS uses its own threads.
"""

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import numpy as np
from benchmarks.scale.cases import ALPHA
from benchmarks.scale.data import Rows
from benchmarks.scale.rivals.layer import (
    LEVEL_95,
    Array,
    batches,
    coverage,
    draw,
    hidden,
    rmse,
)
from benchmarks.scale.watch import Watch
from benchmarks.scale.work import NEURONS

Layer = Callable[[Array], Array]


class Model(NamedTuple):
    """A hidden layer, its output weights β, P = (HᵀH + γI)⁻¹, and the covariance Σ of β."""

    layer: Layer
    beta: Array
    P: Array
    covariance: Array


def train(rows: Rows, watch: Watch, *, shared: bool, batch: int) -> dict[str, float]:
    """Train both models with their covariances, then predict means and intervals.

    As published the noise model has neurons of its own. Where it shares those of the mean model,
    HᵀH and P are shared as well.
    """
    X, y = rows
    layer = partial(_apply, draw(X.dtype))
    noise_layer = layer if shared else partial(_apply, draw(X.dtype, seed=1))
    with watch("fit"):
        mean, noise = fit(X, y, layer, noise_layer, batch)
    with watch("predict"):
        predicted = predict(mean, X, batch)
    with watch("interval"):
        interval = predict_interval(mean, noise, X, batch)
    return {"rmse": rmse(y, predicted), "coverage": coverage(y, interval)}


def fit(X: Array, y: Array, layer: Layer, noise_layer: Layer, batch: int) -> tuple[Model, Model]:
    """Run the six steps: train, predict, jackknife, residuals, train again, jackknife again."""
    mean, r = fit_one(X, y, layer, batch)
    noise, _ = fit_one(X, r**2, noise_layer, batch, mean.P if noise_layer is layer else None)
    return mean, noise


def fit_one(
    X: Array, t: Array, layer: Layer, batch: int, P: Array | None = None
) -> tuple[Model, Array]:
    """Train one ELM on targets t, and find the covariance of its weights by weighted jackknife.

    Returns the model and its residuals.
    """
    HH, A = np.zeros((2, NEURONS, NEURONS), X.dtype)
    Ht = np.zeros(NEURONS, X.dtype)
    for H, part in _hidden(X, layer, batch):
        Ht += H.T @ t[part]
        if P is None:
            HH += H.T @ H
    if P is None:
        P = np.linalg.inv(HH + ALPHA * np.eye(NEURONS, dtype=X.dtype))
    beta = P @ Ht
    r = t - np.concatenate([H @ beta for H, _ in _hidden(X, layer, batch)])
    for H, part in _hidden(X, layer, batch):
        S = H @ P
        weight = r[part] ** 2 / (1 - np.sum(S * H, axis=1))
        A += (H * weight[:, np.newaxis]).T @ S
    return Model(layer, beta, P, P @ A), r


def predict(model: Model, X: Array, batch: int) -> Array:
    """Return Hβ."""
    return np.concatenate([H @ model.beta for H, _ in _hidden(X, model.layer, batch)])


def predict_interval(mean: Model, noise: Model, X: Array, batch: int) -> Array:
    """Return bounds (n, 2) at 95 %; negative noise becomes zero here."""
    bounds = np.empty((len(X), 2), X.dtype)
    for part in batches(len(X), batch):
        H, G = mean.layer(X[part]), noise.layer(X[part])
        variance = np.maximum(G @ noise.beta, 0)
        variance += np.sum((G @ noise.covariance) * G, axis=1)
        variance += np.sum((H @ mean.covariance) * H, axis=1)
        centre, half = H @ mean.beta, LEVEL_95 * np.sqrt(variance)
        bounds[part] = np.column_stack([centre - half, centre + half])
    return bounds


def _hidden(X: Array, layer: Layer, batch: int) -> Iterator[tuple[Array, slice]]:
    return ((layer(X[part]), part) for part in batches(len(X), batch))


def _apply(weights: tuple[Array, Array], X: Array) -> Array:
    return hidden(X, *weights)
