"""A noise model that is always positive: log-variance, linear in hidden outputs.

With q_i an unbiased guess of the noise variance of row i, η = μ + hβ minimises

    ½ Σ s_i (η_i + q_i e^(-η_i)) + ½ γ‖β‖²·½,

the negative log-likelihood of normal residuals. Fisher scoring has the same weight ½ for every
row: each step is a ridge regression of the working response η + q e^(-η) - 1 with one and the
same matrix, so that one eigendecomposition serves all steps and all γ. Steps that do not lower
the objective are halved. Leave-one-out follows from the last step: with t = q e^(-η) - 1 and the
leverage a, η without row i is η_i - a s t / (1 - a s).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from elmband.ground.arrays import Array, add_to_diagonal, cast, double, namespace
from elmband.layers.hidden import FeatureMap
from elmband.layers.member import EigenRows, Judged
from elmband.layers.quadratic import CovarianceRoot, variances

_STRENGTHS = (-3, 4)
_POINTS = 15
# Rows for each degree of freedom, at least: the deviance of few rows left out may praise a model
# that lets the variance of some vanish. Settled on artificial data: 3, 10 and 25 are alike on 15
# and 30 rows, and from 10 on noise of 150 rows is missed.
_ROWS_PER_DEGREE = 5
_STEPS = 50
_TOLERANCE = 1e-7
# Deviances that agree to this are equal, and the larger γ is kept.
_TIE = 1e-6
# The search for γ ends after so many that are worse than the best, where rows are many: of few rows
# left out the deviance goes up and down. They are a factor of ten apart. The weakest γ must not be
# tried after that: leaving a row out is a step of a limited length there, and praises them.
_WORSE, _MANY_ROWS = 2, 1000
# Squared residuals this far below their mean say nothing more about the noise.
_LEAST = 1e-6
# Leaving a row out may not move its log-variance further than this: one step is a linearisation.
_MOST_SHIFT = 3.0
_MOST_UNCERTAINTY = 4.0


class NoiseVariance(NamedTuple):
    """Log-variance η of rows and the variance of η, each (n,)."""

    log: Array
    uncertainty: Array

    @classmethod
    def of(cls, log: Array, uncertainty: Array) -> Self:
        """Limit the uncertainty: where the model knows nothing, e^(v/2) would run away."""
        return cls(log, namespace(log).clip(uncertainty, max=_MOST_UNCERTAINTY))

    def times(self, log_factor: Array | None) -> Self:
        """Return the same with variances e^f times as large."""
        return self if log_factor is None else type(self)(self.log + log_factor, self.uncertainty)

    @property
    def noise(self) -> Array:
        """The noise variance e^η."""
        return namespace(self.log).exp(self.log)

    @property
    def excess(self) -> Array:
        """What the uncertainty of η adds to the mean of e^η: e^η (e^(v/2) - 1)."""
        return self.noise * namespace(self.log).expm1(self.uncertainty / 2)

    def bound(self, z: float) -> Array:
        """Return the variance z standard deviations of η away."""
        xp = namespace(self.log)
        return xp.exp(self.log + z * xp.sqrt(self.uncertainty))


@dataclass(frozen=True, eq=False)
class LogNoise:
    """A fitted log-variance for one output.

    Predictions stay within the `range` of the training rows: an exponential must not be
    extrapolated.
    """

    features: FeatureMap
    centre: Array
    coef: Array
    level: float
    alpha: float
    covariance: Array
    range: tuple[float, float]

    @classmethod
    def fit(
        cls,
        X: Array,
        features: FeatureMap,
        q: Array,
        sample: Judged,
        rule: float | None,
    ) -> tuple[Self, NoiseVariance]:
        """Fit to noise targets q (n,), with γ given or chosen by leaving groups out.

        The second result is what the model says of the training rows with their groups left out.
        """
        H = features.apply(X)
        xp = namespace(H)
        s = sample.s
        centre = cast(double(s @ double(H)) / xp.sum(s), H.dtype)
        H = H - centre
        eigen = EigenRows.of(H, sample)
        mean = float(s @ q) / eigen.n
        target = xp.clip(q, min=_LEAST * mean if mean > 0 else 1e-300)
        unit = float(xp.sum(eigen.values)) / H.shape[1] or 1.0
        strengths = _few(eigen, _strengths(unit)) if rule is None else [max(rule, 1e-12 * unit)]
        gamma, (level, b), eta = _best(eigen, target, strengths)
        d = 1 / (eigen.values + gamma)
        covariance = 2 * (eigen.vectors * (d - 1 / gamma)) @ eigen.vectors.T
        fitted = level + double(eigen.U) @ b
        model = cls(
            features=features,
            centre=centre,
            coef=eigen.vectors @ b,
            level=level,
            alpha=gamma,
            covariance=add_to_diagonal(covariance, 2 / gamma),
            range=(float(xp.min(fitted)), float(xp.max(fitted))),
        )
        gammas = gamma * xp.ones_like(q[:1])
        a, rest = eigen.leverage(gammas)[:, 0], xp.clip(eigen.rest(gammas)[:, 0], min=1e-3)
        return model, NoiseVariance.of(eta, 2 * a / rest)

    def predict(self, X: Array) -> NoiseVariance:
        """Return the log-variance of new rows and its uncertainty."""
        return self.predict_hidden(self.features.apply(X))

    def predict_hidden(self, H: Array) -> NoiseVariance:
        """Return the same of the hidden outputs of rows."""
        H = H - self.centre
        form = variances(H, self.covariance[None, ...], lambda: self._root)
        return NoiseVariance.of(self._log(H), double(form[:, 0]))

    @cached_property
    def _root(self) -> CovarianceRoot:
        return CovarianceRoot.of(self.covariance[None, ...])

    def narrowed(self) -> Self:
        """Return the same model with float32 neurons."""
        centre = cast(self.centre, namespace(self.centre).float32)
        return replace(self, features=self.features.narrowed(), centre=centre)

    def log_variance(self, X: Array) -> Array:
        """Return the log-variance of new rows alone, (n,)."""
        return self._log(self.features.apply(X) - self.centre)

    def _log(self, H: Array) -> Array:
        log = double(H @ cast(self.coef, H.dtype)) + self.level
        return namespace(log).clip(log, min=self.range[0], max=self.range[1])


State = tuple[float, Array]


def _strengths(unit: float) -> list[float]:
    """Return the γ to choose from, the largest first."""
    low, high = _STRENGTHS
    return [unit * 10.0 ** (high - (high - low) * k / (_POINTS - 1)) for k in range(_POINTS)]


def _few(eigen: EigenRows, strengths: list[float]) -> list[float]:
    """Return the γ that leave no more degrees of freedom Σ λ / (λ + γ) than rows can pay for."""
    most = eigen.U.shape[0] / _ROWS_PER_DEGREE
    xp = namespace(eigen.values)
    values = eigen.values
    return [g for g in strengths if float(xp.sum(values / (values + g))) <= most] or strengths[:1]


class _Tried(NamedTuple):
    """A γ with the deviance of rows left out, its solution and their η."""

    gamma: float
    deviance: float
    state: State
    eta: Array


@np.errstate(over="ignore")
def _best(eigen: EigenRows, q: Array, strengths: Sequence[float]) -> tuple[float, State, Array]:
    """Return the γ with the least deviance of rows left out, its solution and their η.

    Each γ starts from the solution of the one before. The deviance of many rows is smooth: every
    other γ is tried, and then those beside the best.
    """
    many = q.shape[0] >= _MANY_ROWS
    xp = namespace(q)
    start = float(xp.log(eigen.s @ q / eigen.n)), xp.zeros_like(eigen.values)
    tried = _path(eigen, q, strengths[:: 2 if many else 1], start)
    found = _least(tried)
    if many:
        place = strengths.index(found.gamma)
        beside = [strengths[k] for k in (place - 1, place + 1) if 0 <= k < len(strengths)]
        tried += [_try(eigen, q, gamma, found.state) for gamma in beside]
        found = _least(sorted(tried, key=lambda one: -one.gamma))
    return found.gamma, found.state, found.eta


def _path(eigen: EigenRows, q: Array, strengths: Sequence[float], state: State) -> list[_Tried]:
    """Try one γ after the other, the largest first, until it gets worse where rows are many."""
    tried: list[_Tried] = []
    for gamma in strengths:
        tried.append(_try(eigen, q, gamma, state))
        state = tried[-1].state
        # Weaker γ take most of the steps, and do not mend what the last ones have made worse.
        last = [one.deviance for one in tried[-_WORSE:]]
        enough = q.shape[0] >= _MANY_ROWS and len(tried) > _WORSE
        if enough and min(last) > min(one.deviance for one in tried) + _TIE:
            break
    return tried


def _try(eigen: EigenRows, q: Array, gamma: float, state: State) -> _Tried:
    """Fit with one γ from a solution of another."""
    xp = namespace(q)
    state = _scoring(eigen, q, gamma, state)
    eta = _left_out(eigen, q, gamma, state)
    return _Tried(gamma, float(eigen.s @ (eta + q * xp.exp(-eta))) / eigen.n, state, eta)


def _least(tried: Sequence[_Tried]) -> _Tried:
    """Return the first whose deviance is the least, or as good as that."""
    least = min(one.deviance for one in tried)
    return next(one for one in tried if one.deviance <= least + _TIE)


def _scoring(eigen: EigenRows, q: Array, gamma: float, start: State) -> State:
    """Run safeguarded Fisher scoring from `start`, in the eigenbasis."""
    xp = namespace(q)
    U, s, n = double(eigen.U), eigen.s, eigen.n
    d = 1 / (eigen.values + gamma)

    def objective(eta: Array, b: Array) -> float:
        return float(s @ (eta + q * xp.exp(-eta))) / 2 + gamma * float(b @ b) / 4

    level, b = start
    eta = level + U @ b
    value = objective(eta, b)
    for _ in range(_STEPS):
        working = eta + q * xp.exp(-eta) - 1
        new_level = float(s @ working) / n
        new_b = d * (U.T @ (s * (working - new_level)))
        share = 1.0
        while True:
            level_, b_ = level + share * (new_level - level), b + share * (new_b - b)
            eta_ = level_ + U @ b_
            value_ = objective(eta_, b_)
            if value_ <= value or share < 1e-4:
                break
            share /= 2
        gain = value - value_
        if gain < 0:
            break
        level, b, eta, value = level_, b_, eta_, value_
        if gain < _TOLERANCE * n:
            break
    return level, b


def _left_out(eigen: EigenRows, q: Array, gamma: float, state: State) -> Array:
    """Return η of every row with its group left out."""
    xp = namespace(q)
    level, b = state
    eta = level + double(eigen.U) @ b
    t = (q * xp.exp(-eta) - 1)[:, None]
    alphas = gamma * xp.ones_like(q[:1])
    shift = t - eigen.left_out(t, alphas)
    return eta + xp.clip(shift[:, 0], min=-_MOST_SHIFT, max=_MOST_SHIFT)
