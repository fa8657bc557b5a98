"""Functions that are rough in the levels of a column, and of known mean and noise."""

from typing import NamedTuple

import numpy as np

LEVELS = 40


class Rough(NamedTuple):
    """Inputs, whose last column numbers the levels, targets, and their true mean and deviation."""

    X: np.ndarray
    y: np.ndarray
    mean: np.ndarray
    std: np.ndarray


def rough(n, seed, *, levels=LEVELS, is_rough=True, steady=False):
    """Draw rows: every level has a mean, a slope and a noise of its own unless all are alike."""
    rng, own = np.random.default_rng(seed), np.random.default_rng(99)
    X = rng.standard_normal((n, 3))
    level = rng.integers(levels, size=n)
    height, bend = own.standard_normal(levels), own.standard_normal((levels, 3))
    spread = np.exp(0.5 * own.standard_normal(levels))
    mean, std = np.sin(X[:, 0]), np.full(n, 0.5)
    if is_rough:
        mean = mean + height[level] + 0.5 * np.sin((X * bend[level]).sum(axis=1))
        std = std if steady else std * spread[level]
    y = mean + std * rng.standard_normal(n)
    return Rough(np.column_stack([X, level]), y, mean, std)
