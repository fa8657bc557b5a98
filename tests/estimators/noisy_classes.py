"""Rows whose class is known with a probability that depends on the inputs."""

from typing import NamedTuple

import numpy as np


class Rows(NamedTuple):
    """Inputs, classes, and the probability of every class."""

    X: np.ndarray
    y: np.ndarray
    p: np.ndarray


def best_class(X, n_classes):
    """Return the class that is the most probable one."""
    if n_classes == 2:
        return (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int)
    angles = 2 * np.pi * np.arange(n_classes) / n_classes
    return np.argmax(X @ np.array([np.cos(angles), np.sin(angles)]), axis=1)


def noisy_classes(n, seed, n_classes=2, *, quiet=0.02, noisy=0.35):
    """Draw rows of which about half have the wrong class often.

    Of two classes these are on one side, of more they are away from the middle.
    """
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    often = X[:, 0] > 0 if n_classes == 2 else np.hypot(*X.T) > 1.5
    wrong = np.where(often, noisy, quiet)[:, None]
    p = np.tile(wrong / (n_classes - 1), n_classes)
    p[np.arange(n), best_class(X, n_classes)] = 1 - wrong[:, 0]
    y = (p.cumsum(axis=1) < rng.random(n)[:, None]).sum(axis=1)
    return Rows(X, y, p)


def right(p, called):
    """Return the probability that a called class is right."""
    return p[np.arange(len(p)), called]
