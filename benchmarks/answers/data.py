"""Rows to learn from, and rows to ask of: like those, or far from them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes

Floats = NDArray[Any]

SEED = 20240229
FAR = 4.0
"""Rows off the data: as many times as far from the middle of every column."""


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to learn from, and as many new ones as are asked for."""

    X: Floats
    y: Floats
    draw: Callable[[int, int], tuple[Floats, Floats]]

    def new(self, n: int, seed: int = 1) -> tuple[Floats, Floats]:
        """Return rows like those of training, with their targets."""
        return self.draw(n, seed)

    def far(self, n: int) -> Floats:
        """Return rows that are unlike those of training: the same, further out."""
        X, _ = self.draw(n, 2)
        middle = self.X.mean(axis=0)
        return np.asarray(middle + FAR * (X - middle), dtype=X.dtype)


def _drawn(d: int, n: int, seed: int, dtype: Any = np.float64) -> tuple[Floats, Floats]:
    """Draw `n` rows of `d` inputs, of which five matter, with noise that grows with the first."""
    rng = np.random.default_rng([SEED, d, seed])
    X = rng.uniform(-1, 1, (n, d)).astype(dtype)
    mean = 2 * np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) + 0.5 * X[:, 4]
    sd = 0.1 + 0.3 * (1 + X[:, 0]) / 2
    return X, (mean + sd * rng.standard_normal(n)).astype(dtype)


def _artificial(rows: int, d: int, dtype: Any = np.float64) -> Task:
    X, y = _drawn(d, rows, 0, dtype)
    return Task(X, y, lambda n, seed: _drawn(d, n, seed, dtype))


def _diabetes() -> Task:
    """Three quarters of the diabetes set of scikit-learn; more rows are drawn from the rest."""
    X, y = load_diabetes(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(y))
    train, test = order[:331], order[331:]

    def draw(n: int, seed: int) -> tuple[Floats, Floats]:
        if n <= len(test):
            return X[test[:n]], y[test[:n]]
        rows = np.random.default_rng([SEED, seed]).choice(test, n)
        return X[rows], y[rows]

    return Task(X[train], y[train], draw)


SETS: dict[str, Callable[[], Task]] = {
    "diabetes": _diabetes,
    "rows-10000x20": lambda: _artificial(10_000, 20),
    "rows-20000x147": lambda: _artificial(20_000, 147, np.float32),
    "check": lambda: _artificial(500, 5),
}
"""Sets by name; "check" is for the test of the harness."""

DEFAULT_SETS = tuple(name for name in SETS if name != "check")
