"""The hidden layer of the rivals, written the plain way, and scores of predictions."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from benchmarks.scale.work import FEATURES, SIGMOIDS
from numpy.typing import NDArray

Array = NDArray[Any]

BATCH = 10_000
"""Rows at a time, where a case does not say how many."""
LEVEL_95 = 1.959963984540054


def draw(dtype: Any, seed: int = 0) -> tuple[Array, Array]:
    """Draw W (147, 200) and b (200,) of sigmoid neurons whose weighted input has variance 2."""
    rng = np.random.default_rng(seed)
    W = rng.standard_normal((FEATURES, SIGMOIDS)) / np.sqrt(FEATURES)
    return W.astype(dtype), rng.standard_normal(SIGMOIDS).astype(dtype)


def hidden(X: Array, W: Array, b: Array) -> Array:
    """Return H (n, 347): the inputs themselves, then the sigmoid neurons."""
    return np.hstack([X, 1 / (1 + np.exp(-(X @ W + b)))])


def batches(n: int, size: int = BATCH) -> Iterator[slice]:
    """Cut n rows into slices."""
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def rmse(y: Array, predicted: Array) -> float:
    """Return the root of the mean squared error."""
    return float(np.sqrt(np.mean((y - predicted.ravel()) ** 2, dtype=np.float64)))


def coverage(y: Array, interval: Array) -> float:
    """Return the share of targets between the bounds (n, 2)."""
    return float(np.mean((interval[:, 0] <= y) & (y <= interval[:, 1])))
