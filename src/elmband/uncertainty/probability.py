"""Probabilities of classes from decisions, calibrated on rows left out.

For decisions d of the classes of a row, a is a positive number and

    p_k ∝ h(a·d_k + b),    h(t) = log(1 + exp(t)).

Both numbers have the greatest likelihood on rows left out. Whatever they are, the class with the
largest decision is the most probable one. Least squares on ±1 makes (1 + d) / 2 an estimate of the
probability itself, to which the form comes close for large a = b, without going below zero; with b
far below zero the form is that of softmax. Two classes have the decisions d and -d. Probabilities
are mixed with those of one more row, of which nothing is known: a few rows cannot tell 0 or 1.
"""

from itertools import product
from typing import Any, NamedTuple, Self

import numpy as np

from elmband.ground.arrays import Array, namespace

Floats = np.ndarray[Any, np.dtype[np.float64]]

# Where log a and b are looked for first, on so many rows, for decisions of mean size one. The loss
# may have two minima: b far below zero, and b above it.
_SIZES = (-4.0, -2.0, 0.0, 1.0, 2.0, 4.0)
_STARTS = tuple(tuple(product(_SIZES, shifts)) for shifts in ((-4.0, -1.0), (2.0, 6.0)))
_START_ROWS = 1000
# Decisions that are enough to know two numbers well.
_MOST_DECISIONS = 500_000
# Where they stay if the rows do not tell, and how many rows this counts for.
_PRIOR = np.array([1.0, -1.0])
_PRIOR_ROWS = 0.05
_NEWTON_STEPS = 100
# Below this, h(t) is exp(t) but for rounding.
_EXPONENTIAL = -40.0


class Probability(NamedTuple):
    """The numbers a and b, and the `least` probability."""

    slope: float
    shift: float
    least: float

    @classmethod
    def fit(cls, decisions: Floats, places: Any, s: Floats) -> Self:
        """Fit to decisions (n, k) of rows whose classes are at `places` (n,), with weights s."""
        # Strong L2 shrinks all decisions alike, and those of rows left out may be large.
        size = float(s @ np.abs(decisions).mean(axis=1) / s.sum()) or 1.0
        steps = -(-decisions.size // _MOST_DECISIONS), -(-len(s) // _START_ROWS)
        problem, rough = (
            Likelihood(decisions[::step] / size, places[::step], s[::step]) for step in steps
        )
        starts = [min(map(np.array, pairs), key=rough.loss) for pairs in _STARTS]
        at = min((problem.minimum(rough.minimum(start)) for start in starts), key=problem.loss)
        least = 1 / (decisions.shape[1] * (float(s.sum()) + 1))
        return cls(float(np.exp(at[0])) / size, float(at[1]), least)

    def __call__(self, decisions: Array) -> Array:
        """Return probabilities (n, k) of decisions (n, k)."""
        k = int(decisions.shape[1])
        return (1 - k * self.least) * _shares(self.slope * decisions + self.shift) + self.least


class Likelihood:
    """Minus the mean log-likelihood of θ = (log a, b), with a weak prior."""

    def __init__(self, decisions: Floats, places: Any, s: Floats) -> None:
        self.decisions, self.own, self.s = decisions, places, s / s.sum()
        self.least = 1 / (decisions.shape[1] * (float(s.sum()) + 1))
        self.prior = _PRIOR_ROWS / float(s.sum())

    def loss(self, at: Floats) -> float:
        """Return the value to be minimised."""
        p = _shares(np.exp(at[0]) * self.decisions + at[1])
        prior = self.prior * float(np.sum((at - _PRIOR) ** 2)) / 2
        return prior - float(self.s @ np.log(self._mixed(self._of_own(p))))

    def derivatives(self, at: Floats) -> tuple[Floats, Floats]:
        """Return gradient (2,) and Hessian (2, 2) of the loss.

        With v = a·d, u = (v, 1), ℓ = log h at t = v + b, the class y of a row and the mean E over
        classes by their shares p,

            g = ∂ log p_y = f_y - E f,    f = ℓ'·u,
            ∂² log p_y = S_y - E[S + f fᵀ] + E f E fᵀ,    S = ℓ''·u uᵀ + ℓ'·diag(v, 0).

        The mixed probability q = (1 - kε)·p_y + ε, with w = 1 - ε / q, has the derivatives
        ∂ log q = w·g and ∂² log q = w·∂² log p_y + w(1 - w)·g gᵀ.
        """
        v = np.exp(at[0]) * self.decisions
        p, (rise, bend) = _shares(v + at[1]), _rise_and_bend(v + at[1])
        mean = np.array([np.vecdot(p, rise * v), np.vecdot(p, rise)])
        second = np.array([np.vecdot(p, bend * v**i) for i in (2, 1, 0)])
        second[0] += mean[0]
        own_v, own_rise, own_bend = (self._of_own(f) for f in (v, rise, bend))
        g = own_rise * np.array([own_v, np.ones_like(own_v)]) - mean
        curve = (own_bend - own_rise**2) * np.array([own_v**i for i in (2, 1, 0)])
        curve[0] += own_rise * own_v
        curve += _products(mean) - second
        w = 1 - self.least / self._mixed(self._of_own(p))
        curve = w * curve + w * (1 - w) * _products(g)
        a, b, c = -curve @ self.s
        hessian = np.array([[a, b], [b, c]]) + self.prior * np.eye(2)
        return self.prior * (at - _PRIOR) - (w * g) @ self.s, hessian

    def minimum(self, at: Floats) -> Floats:
        """Go down from `at` by Newton's method until nothing moves but the last digits."""
        loss = self.loss(at)
        for _ in range(_NEWTON_STEPS):
            gradient, hessian = self.derivatives(at)
            values, vectors = np.linalg.eigh(hessian)
            # Where the loss is not convex, the step leads down all the same.
            step = vectors @ (vectors.T @ gradient / np.maximum(np.abs(values), self.prior))
            # Short steps do not lead from one minimum to another.
            longest = np.array([1.0, 1.0 + abs(at[1]) / 2])
            step /= max(1.0, float((np.abs(step) / longest).max()))
            # Of smaller steps the loss tells nothing but rounding.
            while (after := self.loss(at - step)) > loss and np.abs(step).max() > 1e-4:
                step /= 2
            at, loss = at - step, after
            if np.abs(step).max() < 1e-9:
                break
        return at

    def _of_own(self, values: Floats) -> Floats:
        """Return the values (n,) of the classes of the rows."""
        own: Floats = values[np.arange(len(values)), self.own]
        return own

    def _mixed(self, p: Floats) -> Floats:
        return np.asarray((1 - self.decisions.shape[1] * self.least) * p + self.least)


def _products(pair: Floats) -> Floats:
    """Return the products of two numbers a row with themselves and each other, (3, n)."""
    return np.array([pair[0] ** 2, pair[0] * pair[1], pair[1] ** 2])


def _rise_and_bend(t: Floats) -> tuple[Floats, Floats]:
    """Return h' / h and h'' / h."""
    falling = np.exp(-np.abs(t))
    sigma = np.where(t > 0, 1.0, falling) / (1 + falling)
    small = t < _EXPONENTIAL
    h = np.where(small, 1.0, np.maximum(t, 0.0) + np.log1p(falling))
    rise = np.where(small, 1.0, sigma / h)
    return rise, rise * (1 - sigma)


def _shares(t: Array) -> Array:
    """Return h(t), divided by its sum over each row; by logarithms, which do not vanish."""
    xp = namespace(t)
    small = t < _EXPONENTIAL
    h = xp.maximum(t, xp.zeros_like(t)) + xp.log1p(xp.exp(-xp.abs(t)))
    log = xp.where(small, t, xp.log(xp.where(small, xp.ones_like(t), h)))
    share = xp.exp(log - xp.max(log, axis=1, keepdims=True))
    return share / xp.sum(share, axis=1, keepdims=True)


def both_classes(decision: Array) -> Array:
    """Return the decisions (n, 2) of both classes for d (n,)."""
    return namespace(decision).stack([-decision, decision], axis=1)
