"""Kinds of classes that probabilities must survive: each a function of (rng, n) to X and y."""

import numpy as np


def _drawn(rng, logit):
    return (rng.random(len(logit)) < 1 / (1 + np.exp(-logit))).astype(int)


def plain(rng, n):
    """Two inputs and a bent border: what nothing is wrong with."""
    X = rng.normal(size=(n, 2))
    return X, _drawn(rng, 4 * np.sin(2 * X[:, 0]) + 2 * X[:, 1])


def coin(rng, n):
    """A class that has nothing to do with the inputs."""
    return rng.normal(size=(n, 3)), rng.integers(0, 2, n)


def cauchy_inputs(rng, n):
    """Inputs without a variance."""
    X = rng.standard_cauchy(size=(n, 3))
    return X, _drawn(rng, 3 * np.tanh(X[:, 0]))


def three_values(rng, n):
    """One input with three values: mostly no, a coin, mostly yes."""
    X = rng.integers(0, 3, (n, 1)).astype(float)
    return X, _drawn(rng, 3 * (X[:, 0] - 1))


def constant_columns(rng, n):
    """Columns that never change beside two that do."""
    X, y = plain(rng, n)
    return np.column_stack([X, np.full(n, 1e9), np.zeros(n)]), y


def useless_columns(rng, n):
    """Fifty columns that do not matter beside two that do."""
    X = rng.normal(size=(n, 52))
    return X, _drawn(rng, 3 * X[:, 0] + 2 * X[:, 1])


def wide(rng, n):
    """More columns than rows, of which one matters."""
    X = rng.normal(size=(n, 150))
    return X, _drawn(rng, 3 * X[:, 0])


def rare_class(rng, n):
    """One row in fifteen is of the class."""
    X = rng.normal(size=(n, 2))
    return X, _drawn(rng, 2 * X[:, 0] - 4)


def exact(rng, n):
    """A border without any noise."""
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


CLASS_KINDS = {
    "plain": (plain, 300),
    "coin": (coin, 300),
    "cauchy inputs": (cauchy_inputs, 300),
    "three values": (three_values, 300),
    "constant columns": (constant_columns, 300),
    "useless columns": (useless_columns, 300),
    "more columns than rows": (wide, 100),
    "rare class": (rare_class, 300),
    "exact": (exact, 300),
    "30 rows": (plain, 30),
    "30 coins": (coin, 30),
}
"""How to draw rows, and how many to train on."""
