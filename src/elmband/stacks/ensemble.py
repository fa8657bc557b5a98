"""Members of different kinds, stacked by what they predict for rows left out.

Non-negative weights, fitted to these predictions, tell which members help; those without weight
are dropped.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from scipy.optimize import nnls

from elmband.ground.arrays import Array, double, epsilon, namespace, place, to_numpy
from elmband.layers.hidden import LayerSpec
from elmband.layers.member import FittedMember, Judged, fit_members
from elmband.layers.output_layer import AlphaRule
from elmband.stacks.pool import Pool
from elmband.sums.moments import Chunk

# Rows that a large fit is judged on: this share of them, between these bounds.
_JUDGED_SHARE = 1 / 20
_JUDGED_ROWS = (2000, 10_000)
# A member with less weight than this is left out.
_LEAST_WEIGHT = 0.02
_STACKING_RIDGE = 1e-5
_ROWS_PER_NEURON = 500


def judged_rows(n_rows: int) -> int:
    """Return how many rows a fit on so many is judged on."""
    least, most = _JUDGED_ROWS
    return int(min(max(_JUDGED_SHARE * n_rows, least), most))


def enough_rows(specs: Sequence[LayerSpec]) -> int:
    """Return how many rows are as good as any number to train layers: a thousand for each neuron.

    All others together would take a thousandth off their squared errors, beside the noise.
    """
    return _ROWS_PER_NEURON * max(spec.n_neurons for spec in specs)


Sample: TypeAlias = tuple[Judged, np.ndarray[Any, np.dtype[np.int64]]]
"""Judged rows, and their positions among the distinct rows of a pool."""


@dataclass(frozen=True, eq=False)
class Stack:
    """Fitted members with non-negative weights, (number of members, m).

    `honest` (n, m) are errors of the judged rows, each from members and weights that neither
    saw it nor were chosen by it. Members trained with other weights than those of the judged rows
    have `precision`, a function that multiplies the weights of rows.
    """

    specs: tuple[LayerSpec, ...]
    fitted: tuple[FittedMember, ...]
    weights: Array
    honest: Array
    judged: Judged
    index: np.ndarray[Any, np.dtype[np.int64]]
    precision: Callable[[Chunk], Chunk] | None = None

    def combined(self, part: Callable[[FittedMember], Array]) -> Array:
        """Return the weighted sum over members of an array (n, m) that each of them has."""
        total: Array = 0.0
        for number, fitted in enumerate(self.fitted):
            total = total + part(fitted) * self.weights[number, :][None, :]
        return total

    @property
    def error(self) -> float:
        """Size of the errors of rows left out, over all outputs.

        It is the geometric mean of their root mean square and of their mean absolute value: a few
        rows far outside shall not decide alone.
        """
        share, e = to_numpy(self.judged.s), to_numpy(self.honest)
        share = share / share.sum()
        return float(((share @ e**2).mean() ** 0.5 * (share @ np.abs(e)).mean()) ** 0.5)

    def best(self, count: int, least: float) -> list[int]:
        """Return the places of the members with most weight, a share of `least` or more."""
        weights = to_numpy(self.weights).sum(axis=1)
        order = np.argsort(-weights, kind="stable")[:count]
        worth = weights[order] >= least * weights.sum()
        worth[0] = True
        return [int(k) for k in order[worth]]

    def best_specs(self, count: int, least: float) -> list[tuple[LayerSpec, float]]:
        """Return these members and how many degrees of freedom each of them used."""
        return [(self.specs[k], self.fitted[k].degrees) for k in self.best(count, least)]

    def only(self, count: int, least: float) -> "Stack":
        """Return the stack of these members alone."""
        kept = self.best(count, least)
        specs, fitted = [self.specs[k] for k in kept], [self.fitted[k] for k in kept]
        return _weighted(specs, fitted, (self.judged, self.index))


def stacked(
    pool: Pool,
    sample: Sample,
    specs: Sequence[LayerSpec],
    rule: AlphaRule,
    *,
    whole: bool = False,
    beside: Stack | None = None,
    first: int = 0,
    narrow: bool = False,
) -> Stack:
    """Train every member, stack them, and drop those without weight.

    They are trained on all rows, or on the sample only where it shall stand for the `whole`.
    Members of a stack `beside` them, judged on the same rows, keep the place that they deserve. The
    `first` member has this number, from which its neurons are drawn. `narrow` ones are of float32.
    """
    judged, index = sample
    layers = [pool.draw(spec, first + k, narrow=narrow) for k, spec in enumerate(specs)]
    rows = None if whole or len(index) == pool.n_distinct else pool.training
    some = None if rows is None else pool.some(enough_rows(specs))
    eps = epsilon(namespace(judged.s).float32, namespace(judged.s)) if narrow else pool.eps
    fitted = fit_members(rows, judged, layers, rule, eps, some=some)
    if beside is not None:
        specs, fitted = [*beside.specs, *specs], [*beside.fitted, *fitted]
    return _weighted(specs, fitted, sample)


def _weighted(specs: Sequence[LayerSpec], fitted: Sequence[FittedMember], sample: Sample) -> Stack:
    """Give members their weights, and drop those without one."""
    judged, index = sample
    Y = double(judged.rows.Y)
    weights = stacking_weights(Y, [f.left.left_out for f in fitted], judged.s)
    kept = [k for k in range(len(specs)) if weights[k].max() > 0]
    return Stack(
        specs=tuple(specs[k] for k in kept),
        fitted=tuple(fitted[k] for k in kept),
        weights=place(weights[kept], Y),
        honest=honest_errors(Y, [f.left.honest for f in fitted], judged, weights),
        judged=judged,
        index=index,
    )


def restacked(
    specs: Sequence[LayerSpec], fitted: Sequence[FittedMember], weighted: Judged, before: Stack
) -> Stack:
    """Stack members that were trained with other weights, for rows judged as they were `before`."""
    found = _weighted(specs, fitted, (weighted, before.index))
    return replace(found, judged=before.judged)


def stacking_weights(
    Y: Array, left_out: Sequence[Array], s: Array
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the non-negative weights (M, m) of predictions for rows left out.

    They minimise Σ s (y - Σ_k w_k p_k)², from the sums of products alone. Where no member helps,
    the best one stays.
    """
    root = np.sqrt(to_numpy(s))[:, None]
    target = to_numpy(Y) * root
    predictions = np.stack([target - to_numpy(e) * root for e in left_out])
    weights = np.zeros((len(left_out), target.shape[1]))
    for j in range(target.shape[1]):
        P = predictions[:, :, j]
        w = _nonnegative(P @ P.T, P @ target[:, j])
        w[w < _LEAST_WEIGHT * w.sum()] = 0
        if not w.any():
            w[np.argmin(((target[:, j] - P) ** 2).sum(axis=1))] = 1.0
        else:
            kept = w > 0
            w[kept] = _nonnegative((P @ P.T)[np.ix_(kept, kept)], P[kept] @ target[:, j])
        weights[:, j] = w
    return weights


def honest_errors(
    Y: Array,
    left_out: Sequence[Array],
    judged: Judged,
    weights: np.ndarray[Any, np.dtype[np.float64]],
) -> Array:
    """Return y - Σ_k w_k p_k with weights fitted on the other folds, (n, m)."""
    target, errors = to_numpy(Y), np.stack([to_numpy(e) for e in left_out])
    predictions = target - errors
    if judged.folds is None:
        return place(target - np.einsum("knm,km->nm", predictions, weights), Y)
    out = np.empty_like(target)
    s = to_numpy(judged.s)
    for fold in np.unique(judged.folds):
        here = judged.folds == fold
        others = [e[~here] for e in errors]
        if (~here).any():
            weights = stacking_weights(target[~here], others, s[~here])
        out[here] = target[here] - np.einsum("knm,km->nm", predictions[:, here], weights)
    return place(out, Y)


def _nonnegative(
    products: np.ndarray[Any, Any], against: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """Solve min wᵀAw - 2bᵀw over w ≥ 0; a slight ridge shares weight among equal members."""
    ridge = _STACKING_RIDGE * max(float(np.trace(products)) / len(against), 1e-300)
    root = np.linalg.cholesky(products + ridge * np.eye(len(against)))
    solution, _ = nnls(root.T, np.linalg.solve(root, against))
    return np.asarray(solution)
