"""Kinds of data that intervals must survive: each a function of (rng, n) that draws X and y.

Each kind has a band for the mean coverage of 90 % intervals over draws of training and test rows.
A method whose multipliers come from rows left out has no excuse but chance to leave .87 to .93;
a kind with a wider band says why.
"""

from dataclasses import dataclass

import numpy as np

BAND = (0.87, 0.93)


@dataclass(frozen=True)
class Kind:
    """How to draw rows, how many to train on, and the coverage of 90 % intervals.

    ``parts`` tells to which part of the inputs a row belongs, and ``part_band`` bounds the
    coverage of each: that of single parts is no promise of an average, so it is wider. ``far``
    says that new rows may be much farther away than those of the training.
    """

    draw: object
    band: tuple = BAND
    n: int = 300
    parts: object = None
    part_band: tuple = (0.84, 0.97)
    nonnegative: bool = False
    far: bool = False


def _signal(X):
    return np.sin(2 * X[:, 0]) + 0.5 * X[:, 1]


def plain(rng, n):
    """Two inputs, normal noise: what nothing is wrong with."""
    X = rng.normal(size=(n, 2))
    return X, _signal(X) + 0.5 * rng.normal(size=n)


def nothing(rng, n):
    """A target that has nothing to do with the inputs."""
    return rng.normal(size=(n, 3)), rng.normal(size=n)


def cauchy_inputs(rng, n):
    """Inputs without a variance: some rows are a thousand times as far as most."""
    X = rng.standard_cauchy(size=(n, 3))
    return X, np.tanh(X[:, 0]) + 0.3 * rng.normal(size=n)


def cauchy_line(rng, n):
    """A line in an input without a variance: a few targets are a thousand times the others."""
    X = rng.standard_cauchy(size=(n, 1))
    return X, X[:, 0] + rng.normal(size=n)


def t2_noise(rng, n):
    """Noise without a variance: Student's t with two degrees of freedom."""
    X = rng.normal(size=(n, 2))
    return X, _signal(X) + 0.5 * rng.standard_t(2, size=n)


def zero_one(rng, n):
    """A target that is 0 or 1, with a probability that depends on the inputs."""
    X = rng.normal(size=(n, 2))
    return X, (rng.random(n) < 1 / (1 + np.exp(-3 * X[:, 0]))).astype(float)


def counts(rng, n):
    """Counts of rare events: mostly 0 to 3, at times 20."""
    X = rng.normal(size=(n, 2))
    return X, rng.poisson(np.exp(0.5 + 0.8 * X[:, 0])).astype(float)


def half_zero(rng, n):
    """Sales: half of them are exactly zero, the others are lognormal."""
    X = rng.normal(size=(n, 2))
    sold = rng.random(n) < 1 / (1 + np.exp(-X[:, 1]))
    return X, np.where(sold, np.exp(1 + 0.5 * X[:, 0] + 0.5 * rng.normal(size=n)), 0.0)


def prices(rng, n):
    """Positive targets with a heavy tail: the largest is some hundred times the median."""
    X = rng.normal(size=(n, 2))
    return X, np.exp(3 + X[:, 0] + 1.2 * rng.normal(size=n))


def no_noise(rng, n):
    """Targets that follow from the inputs: all that is uncertain is the model itself."""
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, _signal(X)


def no_noise_line(rng, n):
    """A line without noise: the model can be exact."""
    X = rng.normal(size=(n, 2))
    return X, 3 * X[:, 0] - X[:, 1] + 5


def half_exact(rng, n):
    """Half of the rows have noise, the other half has none at all."""
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, _signal(X) + np.where(X[:, 0] > 0, 1.0, 0.0) * rng.normal(size=n)


def step_noise(rng, n):
    """Noise that is ten times as large on one side of a step."""
    X = rng.uniform(-2, 2, size=(n, 2))
    return X, _signal(X) + np.where(X[:, 0] > 0, 1.0, 0.1) * rng.normal(size=n)


def lognormal_noise(rng, n):
    """Skewed noise: all below is near, and what is above can be far."""
    X = rng.normal(size=(n, 2))
    return X, _signal(X) + rng.lognormal(0, 1, size=n)


def three_values(rng, n):
    """One input with three values, and noise of its own for each."""
    k = rng.integers(0, 3, n)
    return k[:, None].astype(float), 2.0 * k + np.array([0.2, 1.0, 3.0])[k] * rng.normal(size=n)


def constant_columns(rng, n):
    """Three columns that never change, at 0, at 1e9 and at 1e-9, beside two that do."""
    X, y = plain(rng, n)
    return np.column_stack([X, np.zeros(n), np.full(n, 1e9), np.full(n, 1e-9)]), y


def all_constant(rng, n):
    """Only columns that never change: the interval is that of the targets."""
    return np.full((n, 2), 7.0), rng.normal(size=n)


def useless_columns(rng, n):
    """Fifty columns that do not matter beside two that do."""
    X, y = plain(rng, n)
    return np.column_stack([X, rng.normal(size=(n, 50))]), y


def wide(rng, n):
    """More columns than rows, of which one matters."""
    X = rng.normal(size=(n, 150))
    return X, X[:, 0] + 0.5 * rng.normal(size=n)


def collinear(rng, n):
    """Ten columns that are one column, but for a billionth."""
    base = rng.normal(size=n)
    X = base[:, None] + 1e-9 * rng.normal(size=(n, 10))
    return X, np.sin(2 * base) + 0.5 * rng.normal(size=n)


def far_from_zero(rng, n):
    """Targets around 1e8 with noise of 1, as of times in seconds."""
    X, y = plain(rng, n)
    return X, 1e8 + y


def outliers(rng, n):
    """One target in a hundred is wrong by a factor of a thousand."""
    X, y = plain(rng, n)
    return X, np.where(rng.random(n) < 0.01, 1000 * y, y)


def _right_side(X):
    return (X[:, 0] > 0).astype(int)


def _value(X):
    return X[:, 0].astype(int)


KINDS = {
    "plain": Kind(plain),
    "nothing": Kind(nothing),
    "cauchy inputs": Kind(cauchy_inputs, far=True),
    "cauchy line": Kind(cauchy_line, far=True),
    "t2 noise": Kind(t2_noise),
    # An interval around a coin holds one of its sides or both: half of the rows, or all.
    "zero or one": Kind(zero_one, (0.87, 1.0), nonnegative=True),
    # Bounds can only pass from one count to the next, which may hold a tenth of the rows.
    "counts": Kind(counts, (0.87, 0.96), nonnegative=True),
    # Rows that are nearly always zero are covered by any interval at all.
    "half zero": Kind(half_zero, (0.87, 0.95), nonnegative=True),
    "prices": Kind(prices, nonnegative=True),
    # Errors are those of one smooth surface, so rows of a draw miss together; and scores of models
    # of two thirds of the rows, whose errors are larger, are not quite those of all. Neurons that
    # have learned err less, and 0.812 of the rows of six draws were covered.
    "no noise": Kind(no_noise, (0.80, 0.96)),
    # Errors are those of rounding, and any interval that is not of width 0 covers them.
    "no noise, a line": Kind(no_noise_line, (0.87, 1.0)),
    # Where there is no noise any width is enough: too wide there is a waste, and no lie. The other
    # half pays for it, as the log-variance is smooth.
    "half exact": Kind(half_exact, (0.87, 0.94), parts=_right_side, part_band=(0.80, 1.0)),
    "step noise": Kind(step_noise, parts=_right_side),
    "lognormal noise": Kind(lognormal_noise),
    "three values": Kind(three_values, parts=_value, part_band=(0.85, 0.95)),
    "constant columns": Kind(constant_columns),
    "all constant": Kind(all_constant),
    "useless columns": Kind(useless_columns),
    # A hundred rows: the mean of 40 draws is still off by 2 points.
    "more columns than rows": Kind(wide, (0.85, 0.95), n=100),
    "collinear": Kind(collinear),
    "far from zero": Kind(far_from_zero),
    # Whether one of the three wrong targets pulls at the mean or not makes two kinds of draws: one
    # fit varies by 8 points (0.93 on average over 24 draws that no test uses).
    "outliers": Kind(outliers, (0.86, 0.95)),
    # Thirty residuals: a quantile of theirs is off by 5 points, the mean of 60 draws by 1.
    "30 rows": Kind(plain, (0.86, 0.95), n=30),
    "30 rows, nothing": Kind(nothing, (0.86, 0.95), n=30),
    "30 prices": Kind(prices, (0.86, 0.96), n=30, nonnegative=True),
}


def in_groups(rng, n, size=5):
    """Rows that are nearly alike within a group, which shares an error: X, y and groups."""
    owner = np.repeat(np.arange(-(-n // size)), size)[:n]
    middle, shared = rng.normal(size=(owner[-1] + 1, 2)), rng.normal(size=owner[-1] + 1)
    X = middle[owner] + 0.05 * rng.normal(size=(n, 2))
    return X, _signal(X) + shared[owner] + 0.2 * rng.normal(size=n), owner


def biased_draw(rng, n):
    """Rows of one side three times as often as they are, and weights that undo it: X, y, weight."""
    side = rng.random(n) < 0.75
    X = np.abs(rng.normal(size=(n, 2))) * np.column_stack([np.where(side, 1, -1), np.ones(n)])
    weight = np.where(side, 1 / 3, 1.0)
    return X, _signal(X) + np.where(side, 0.2, 1.0) * rng.normal(size=n), weight
