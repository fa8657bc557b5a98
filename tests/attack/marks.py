"""Rows with rare marks, and tables with levels that come later."""

import numpy as np
import pandas as pd

N_MARKS = 3


def marked(rng, n, shift=0.0):
    """Draw three inputs and three marks, each set in two rows only, whose targets are moved."""
    X = np.column_stack([rng.normal(size=(n, 3)), np.zeros((n, N_MARKS))])
    y = X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n)
    rows = rng.permutation(n)[: 2 * N_MARKS]
    X[rows, 3 + np.arange(2 * N_MARKS) // 2] = 1
    y[rows] += shift * rng.choice([-1, 1], 2 * N_MARKS)
    return X, y


def with_marks(rng, n, *, every=False):
    """Draw new rows with one mark each, or with every one of them, that change nothing."""
    X = np.column_stack([rng.normal(size=(n, 3)), np.zeros((n, N_MARKS))])
    if every:
        X[:, 3:] = 1
    else:
        X[np.arange(n), 3 + np.arange(n) % N_MARKS] = 1
    return X, X[:, 0] + 0.5 * X[:, 1] + 0.5 * rng.normal(size=n)


def towns(rng, effect, levels, n):
    """Draw a table with a number and a town, whose effect on the target is given."""
    town, x = rng.choice(levels, n), rng.normal(size=n)
    y = x + effect[town] + 0.3 * rng.normal(size=n)
    return pd.DataFrame({"x": x, "town": [f"town {k}" for k in town]}), y
