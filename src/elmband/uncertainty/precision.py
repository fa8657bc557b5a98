"""A mean that listens to rows by how little noise they have: weights 1 / variance.

Where noise differs much between rows, least squares with equal weights follows the noisy ones. Once
a noise model is there, its members are trained again with weights s / σ²(x), and stacked by the
same weights; intervals of rows left out decide which of both means is kept. Neurons stay as they
were.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, namespace, to_numpy
from elmband.layers.member import Judged, fit_members
from elmband.layers.output_layer import AlphaRule
from elmband.stacks.ensemble import Stack, restacked
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool, row_weights
from elmband.sums.moments import Chunk
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.noise.output import NoiseModels, with_mean
from elmband.uncertainty.tails import gains

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# Fewer rows do not tell noise well enough.
_LEAST_ROWS = 100
# Least squares with equal weights has at least this many times the variance of the best one,
# mean σ² · mean 1/σ², if members are worth training again.
_LEAST_LOSS = 2.0
# Weights lie within this factor of the middle one.
_MOST_RATIO = 30.0
# Where more rows than this share have one and the same target, as sales of zero, what looks like
# little noise is another kind of row.
_MOST_ALIKE = 0.1
# The mean of errors of rows left out may move so many of its standard errors away from zero: noise
# that hangs together with the target would pull the mean to where it is small.
_MOST_BIAS = 2.0
# So large is the variance of the mean beside that of the noise, on average, where something can be
# gained; a row counts no more than the second ratio.
_LEAST_SHARE, _MOST_SHARE = 0.2, 10.0
# Squared errors of rows left out, divided by their variances, must fall by the first share, and as
# they are they must not rise by more than the second. The interval score must fall by the third:
# noise models take misfit for noise, and a mean that listens less to such rows fits them worse.
_LEAST_GAIN = 0.1
_MOST_RISE = 0.005
_LEAST_SCORE_GAIN = 0.02
# And by so many standard errors: a few rows far outside shall not decide.
_ERRORS = 1.5


@dataclass(frozen=True, eq=False)
class Precision:
    """Weights of rows, 1 / σ²(x) of mean one over the rows that noise was learned from.

    With several outputs σ² is the geometric mean of their variances.
    """

    stack: MeanStack
    noise: tuple[NoiseModels, ...]
    level: float
    factor: float = 1.0

    @classmethod
    def of(cls, stack: MeanStack, noise: tuple[NoiseModels, ...], rows: Chunk) -> "Precision":
        """Find the middle of log-variances, and the factor that makes the mean of weights one."""
        s = row_weights(rows)
        xp = namespace(s)
        raw = cls(stack, noise, 0.0)
        level = float(s @ raw.logs(rows.X) / xp.sum(s))
        first = replace(raw, level=level)
        return replace(first, factor=float(xp.sum(s) / (s @ first(rows.X))))

    def logs(self, X: Array) -> Array:
        """Return log σ² of rows, (n,)."""
        mean = self.stack.mean(X)
        found = [
            models.both.log_variance(with_mean(X, mean[:, j] * models.orientation))
            for j, models in enumerate(self.noise)
        ]
        return sum(found[1:], found[0]) / len(found)

    def __call__(self, X: Array) -> Array:
        """Return the weights of rows, (n,)."""
        xp = namespace(X)
        far = float(np.log(_MOST_RATIO))
        return self.factor * xp.exp(-xp.clip(self.logs(X) - self.level, min=-far, max=far))

    def times(self, rows: Chunk) -> Chunk:
        """Return rows whose weights are multiplied by these."""
        s = row_weights(rows) * double(self(rows.X))
        return rows._replace(s=namespace(s).astype(s, rows.Y.dtype))


class _Loss(NamedTuple):
    """Sums of squared errors of rows left out: as they are, and divided by variances.

    `bias` is how many standard errors their mean is from zero, for the output where it is most.
    """

    plain: float
    weighted: float
    bias: float


def worth_trying(left_out: LeftOut) -> bool:
    """Tell whether the mean of rows left out is uncertain enough, beside the noise, to gain."""
    share = to_numpy(left_out.mean_model) / np.maximum(to_numpy(left_out.noise), 1e-300)
    s = np.ones(len(share)) if left_out.s is None else to_numpy(left_out.s)
    return float(s @ np.minimum(share, _MOST_SHARE).mean(axis=1) / s.sum()) >= _LEAST_SHARE


def refitted(pool: Pool, stack: Stack, precision: Precision, rule: AlphaRule) -> Stack:
    """Train the members of a stack again with weights 1 / σ²."""
    judged = stack.judged
    layers = [fitted.member.features for fitted in stack.fitted]
    rows = None if len(stack.index) == pool.n_distinct else pool.training
    weighted = judged._replace(s=judged.s * double(precision(judged.rows.X)))
    fitted = fit_members(rows, weighted, layers, rule, pool.eps, precision=precision.times)
    return replace(restacked(stack.specs, fitted, weighted, stack), precision=precision.times)


def improved(pool: Pool, stack: Stack, precision: Precision, rule: AlphaRule) -> Stack | None:
    """Train the members of a stack again with weights 1 / σ², None where that does not help."""
    judged = stack.judged
    if len(stack.index) < _LEAST_ROWS or _many_alike(judged):
        return None
    s, weights = to_numpy(judged.s), to_numpy(double(precision(judged.rows.X)))
    if (s @ weights) * (s @ (1 / weights)) < _LEAST_LOSS * s.sum() ** 2:
        return None
    found = refitted(pool, stack, precision, rule)
    before, after = (_loss(one.honest, s, weights) for one in (stack, found))
    gains = after.weighted < (1 - _LEAST_GAIN) * before.weighted
    stays = after.plain < (1 + _MOST_RISE) * before.plain and after.bias < before.bias + _MOST_BIAS
    return found if gains and stays else None


def _many_alike(judged: Judged) -> bool:
    """Tell whether many rows have the same target, in any output."""
    Y = to_numpy(double(judged.rows.Y))
    return any(np.unique(y, return_counts=True)[1].max() > _MOST_ALIKE * len(y) for y in Y.T)


def _loss(errors: Array, s: Floats, weights: Floats) -> _Loss:
    e = to_numpy(double(errors))
    squares = (e**2).mean(axis=1)
    spread = np.sqrt(s**2 @ e**2)
    bias = float((np.abs(s @ e) / np.where(spread > 0, spread, 1.0)).max())
    return _Loss(float(s @ squares), float((s * weights) @ squares), bias)


def is_narrower(scores: Floats | None, before: Floats | None, s: Floats) -> bool:
    """Tell whether interval scores of rows left out are well below those `before`."""
    # One of both may know the errors of fewer rows.
    if scores is None or before is None or len(scores) != len(before):
        return False
    share = s / s.sum()
    return gains((before - scores) / (share @ before), s, _ERRORS, _LEAST_SCORE_GAIN)
