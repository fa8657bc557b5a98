"""What the mean of a fitted model depends on, and what its noise depends on.

Both are told by M, the mean of ∇f ∇fᵀ over training rows (`elmband.layers.relevance`): f is the
mean, or the log-variance of the noise. The diagonal of M over its trace is the share of each input,
and its eigenvectors are directions. Gradients are with respect to what neurons see, whose columns
all have a variance of about one, so that units of inputs do not matter; those of rare marks, which
neurons see with less, are multiplied by their standard deviation. The noise depends on inputs
directly and by way of the predicted mean, which is an input of its model; the chain rule adds up
both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.layers.gradients import layer_gradients, member_gradients
from elmband.layers.hidden import FeatureMap
from elmband.layers.relevance import GradientSums, Matrix
from elmband.stacks.mean_stack import MeanStack
from elmband.stacks.pool import Pool
from elmband.uncertainty.noise.output import NoiseModels, with_mean

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# Rows that gradients are taken at, of all outputs together: a quarter of all between these bounds,
# so that they cost little beside a fit; and for each output at least.
_ROWS = (250, 1000)
_LEAST_ROWS = 100
# A direction with less than this share is none to speak of.
_LEAST_SHARE = 0.01
# Of a wider table only single inputs are looked at, not directions.
_MOST_COLUMNS = 1000


@dataclass(frozen=True, eq=False)
class Dependence:
    """What one function depends on.

    Attributes
    ----------
    shares : array (d,)
        The share of every input; they sum to one.
    directions : array (k, d)
        Directions of length one with a share of 1 % or more, that with the largest first.
    direction_shares : array (k,)
        Their shares, which sum to one with those of all others.
    slope : float
        The root of the mean squared length of the gradient.
    """

    shares: Floats
    directions: Floats
    direction_shares: Floats
    slope: float

    @classmethod
    def of(cls, sums: GradientSums) -> Self | None:
        """Return it from sums over rows, None where the function is constant."""
        M = to_numpy(double(sums.products))
        diagonal = M if M.ndim == 1 else np.diagonal(M)
        trace = float(diagonal.sum())
        if not 0 < trace < np.inf:
            return None
        directions, shares = _directions(M / trace)
        slope = float(np.sqrt(trace / sums.n))
        return cls(diagonal / trace, directions, shares, slope)


@dataclass(frozen=True, eq=False)
class Dependences:
    """What the mean and the noise depend on, None where one is constant or not known."""

    mean: Dependence | None
    noise: Dependence | None = None

    @property
    def both(self) -> Iterator[Dependence]:
        """Those that are known."""
        return (one for one in (self.mean, self.noise) if one is not None)


def _directions(M: Matrix) -> tuple[Floats, Floats]:
    """Return the eigenvectors of M with large eigenvalues, as rows, and these."""
    if M.ndim == 1:
        return np.empty((0, len(M))), np.empty(0)
    values, vectors = np.linalg.eigh(M)
    kept = np.flatnonzero(values >= _LEAST_SHARE)[::-1]
    rows = vectors[:, kept].T
    # An eigenvector has no sign of its own: the largest part is positive.
    largest = np.take_along_axis(rows, np.abs(rows).argmax(axis=1)[:, None], axis=1)
    return rows * np.sign(largest), values[kept]


def stack_dependences(
    pool: Pool, stack: MeanStack, noise: Sequence[NoiseModels] = ()
) -> Dependences:
    """Return what a stack and its noise models depend on, from rows that it was judged on."""
    n_outputs = int(stack.weights.shape[1])
    judged, _ = pool.judged(_n_rows(pool.n_distinct, n_outputs))
    X, s = judged.rows.X, judged.s
    predicted = stack.mean(X) if noise else None
    spread = _spread(stack.members[0].features, X, s)
    gradients = [_stack_gradients(stack, X, j) for j in range(n_outputs)]
    mean = Dependence.of(_summed(gradients, s, spread))
    if predicted is None:
        return Dependences(mean)
    of_noise = [
        _noise_gradients(models, with_mean(X, predicted[:, j] * models.orientation), gradients[j])
        for j, models in enumerate(noise)
    ]
    return Dependences(mean, Dependence.of(_summed(of_noise, s, spread)))


def _n_rows(n: int, n_outputs: int) -> int:
    least, most = _ROWS
    return max(min(max(n // 4, least), most) // n_outputs, _LEAST_ROWS)


def layer_dependence(features: FeatureMap, coef: Array, X: Array, s: Array) -> Dependences:
    """Return what a single layer with output weights (L, m) depends on, at rows X of weights s."""
    n_outputs = int(coef.shape[1])
    size = _n_rows(int(X.shape[0]), n_outputs)
    # Not past the end, which the array API leaves open.
    size = min(size, int(X.shape[0]))
    Z = double(features.viewed(X[:size, :]))
    found = [layer_gradients(features.hidden, Z, place(coef[:, j], Z)) for j in range(n_outputs)]
    spread = _spread(features, X[:size, :], double(s[:size]))
    return Dependences(Dependence.of(_summed(found, double(s[:size]), spread)))


def _spread(features: FeatureMap, X: Array, s: Array) -> Array:
    """Return the standard deviation of rare marks, as neurons see them, and 1 for other inputs."""
    Z = double(features.inputs(X))
    xp = namespace(Z)
    ends = xp.min(Z, axis=0), xp.max(Z, axis=0)
    marks = xp.all((ends[0] == Z) | (ends[1] == Z), axis=0)
    weights = s / xp.sum(s)
    deviation = xp.sqrt(weights @ (Z - weights @ Z) ** 2)
    ones = xp.ones_like(deviation)
    return xp.where(marks & (deviation < 1), deviation, ones)


def _stack_gradients(stack: MeanStack, X: Array, output: int) -> Array:
    """Return the gradient of the mean of an output: that of members, added by their weights."""
    weights = to_numpy(stack.weights)[:, output].tolist()
    pairs = zip(weights, stack.members, strict=True)
    parts = [w * member_gradients(member, X, output) for w, member in pairs if w > 0]
    return sum(parts[1:], parts[0])


def _noise_gradients(models: NoiseModels, beside: Array, mean: Array) -> Array:
    """Return the gradient of the log-variance, with what the predicted mean passes on."""
    model = models.both
    Z = double(model.features.viewed(beside))
    found = layer_gradients(model.features.hidden, Z, place(model.coef, Z))
    passed = models.orientation / double(model.features.inputs.scale)[-1]
    return found[:, :-1] + found[:, -1:] * passed * mean


def _summed(gradients: Sequence[Array], s: Array, spread: Array) -> GradientSums:
    """Sum over rows and outputs; of wide tables the diagonal only."""
    parts = [_sums(G * spread, double(s)) for G in gradients]
    return sum(parts[1:], parts[0])


def _sums(gradients: Array, s: Array) -> GradientSums:
    if gradients.shape[1] <= _MOST_COLUMNS:
        return GradientSums.of(gradients, s)
    return GradientSums(float(namespace(s).sum(s)), s @ gradients**2)
