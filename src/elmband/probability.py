"""Probabilities of classes from decisions, calibrated on rows left out.

For decisions d of the classes of a row, a is a positive number and

    p_k ∝ σ(a·d_k + b),    σ(t) = 1 / (1 + exp(-t)).

Both numbers have the greatest likelihood on rows left out. Whatever they are, the class with the
largest decision is the most probable one; with b far below zero the form is that of softmax. Two
classes have the decisions d and -d. Probabilities are mixed with those of one more row, of which
nothing is known: a few rows cannot tell 0 or 1.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize

from elmband._arrays import Array, namespace

Floats = np.ndarray[Any, np.dtype[np.float64]]

# Where log a and b are looked for, and where they stay if the rows do not tell.
_STARTS = ((0.7, 0.0), (1.5, -4.0))
_PRIOR = np.array([1.0, -1.0])
# How many rows the prior counts for, and how far from it a row would have to be.
_PRIOR_ROWS = 0.05
_NEWTON_STEPS = 60


class Probability(NamedTuple):
    """The numbers a and b, and the `least` probability."""

    slope: float
    shift: float
    least: float

    @classmethod
    def fit(cls, decisions: Floats, places: Any, s: Floats) -> Self:
        """Fit to decisions (n, k) of rows whose classes are at `places` (n,), with weights s."""
        problem = _Likelihood(decisions, places, s)
        found = [minimize(problem.loss, x, jac=problem.gradient, method="BFGS") for x in _STARTS]
        best = min(found, key=lambda result: float(result.fun))
        at = problem.polished(best.x)
        return cls(float(np.exp(at[0])), float(at[1]), problem.least)

    def __call__(self, decisions: Array) -> Array:
        """Return probabilities (n, k) of decisions (n, k)."""
        return _mixed(_shares(self.slope * decisions + self.shift), self.least)


class _Likelihood:
    """Minus the mean log-likelihood of (log a, b), with a weak prior."""

    def __init__(self, decisions: Floats, places: Any, s: Floats) -> None:
        self.decisions, self.places, self.s = decisions, places[:, None], s / s.sum()
        self.least = 1 / (decisions.shape[1] * (float(s.sum()) + 1))
        self.prior = _PRIOR_ROWS / float(s.sum())

    def loss(self, at: Floats) -> float:
        p = _mixed(_shares(np.exp(at[0]) * self.decisions + at[1]), self.least)
        own = np.take_along_axis(p, self.places, axis=1)[:, 0]
        return float(self.prior * np.sum((at - _PRIOR) ** 2) / 2 - self.s @ np.log(own))

    def gradient(self, at: Floats) -> Floats:
        t = np.exp(at[0]) * self.decisions + at[1]
        p = _shares(t)
        # ∂ log p_y / ∂t_j = (1 - σ(t_j)) (1[j = y] - p_j).
        own = np.take_along_axis(p, self.places, axis=1)
        step = -p
        np.put_along_axis(step, self.places, 1 - own, axis=1)
        step *= 0.5 - 0.5 * np.tanh(t / 2)
        inner = (1 - p.shape[1] * self.least) * own / _mixed(own, self.least, p.shape[1])
        step *= inner * self.s[:, None]
        of_slope = np.exp(at[0]) * np.sum(step * self.decisions)
        return np.asarray(self.prior * (at - _PRIOR) - [of_slope, np.sum(step)])

    def polished(self, at: Floats) -> Floats:
        """Go on by Newton's method until nothing moves but the last digits."""
        width = 1e-5
        for _ in range(_NEWTON_STEPS):
            ends = [
                [self.gradient(at + sign * width * axis) for sign in (1, -1)] for axis in np.eye(2)
            ]
            hessian = np.array([(up - down) / (2 * width) for up, down in ends])
            curvature = float(np.linalg.eigvalsh((hessian + hessian.T) / 2)[0])
            # Where the loss is not convex the step is shorter, and still leads down.
            damped = hessian + max(1e-9 - 2 * curvature, 0.0) * np.eye(2)
            step = np.linalg.solve((damped + damped.T) / 2, self.gradient(at))
            step /= max(1.0, float(np.abs(step).max()))
            at = at - step
            if float(np.abs(step).max()) < 1e-11:
                break
        return at


def _mixed(p: Array, least: float, classes: int | None = None) -> Array:
    return (1 - (classes or p.shape[1]) * least) * p + least


def _shares(t: Array) -> Array:
    """Return σ(t), divided by its sum over each row; by logarithms, which do not vanish."""
    xp = namespace(t)
    zero = xp.zeros_like(t)
    log = -xp.maximum(-t, zero) - xp.log1p(xp.exp(-xp.abs(t)))
    share = xp.exp(log - xp.max(log, axis=1, keepdims=True))
    return share / xp.sum(share, axis=1, keepdims=True)


def two_sided(decision: Array) -> Array:
    """Return the decisions (n, 2) of both classes for d (n,)."""
    return namespace(decision).stack([-decision, decision], axis=1)
