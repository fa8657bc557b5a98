"""Members of different kinds, stacked by what they predict for rows left out.

Candidates are small layers of several families and scales. All are trained on a sample of rows;
non-negative weights, fitted to their predictions for rows left out, tell which ones help. On few
rows these are the ensemble; on many, the best few are trained again on all rows with more
neurons, and stacked again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import nnls

from elmband._arrays import Array, double, place, to_numpy
from elmband.hidden import LayerSpec
from elmband.member import FittedMember, Judged, fit_members
from elmband.output_layer import AlphaRule
from elmband.pool import Pool

# Rows that candidates are compared on.
CANDIDATE_ROWS = 1500
# Rows that a large fit is judged on: this share of them, between these bounds.
_JUDGED_SHARE = 1 / 20
_JUDGED_ROWS = (2000, 10_000)
_CANDIDATE_NEURONS = 360
# Members trained on all rows: at most so many, of those with such a share of the weight.
_FINAL_MEMBERS = 3
_LEAST_SHARE = 0.15
_NEURONS_PER_ROOT = 13
_NEURONS_PER_DEGREE = 12
_MOST_NEURONS = 2000
# A member with less weight than this is left out.
_LEAST_WEIGHT = 0.02
_STACKING_RIDGE = 1e-5


def candidates(n_neurons: int) -> list[LayerSpec]:
    """Return the families and scales to choose from."""
    tanh, relu, rbf = ((("tanh", n_neurons),), (("relu", n_neurons),), (("rbf_l2", n_neurons),))
    return [
        *(LayerSpec(tanh, weight_scale=scale) for scale in (0.4, 1.2)),
        *(LayerSpec(tanh, weight_scale=s, placed=True, max_inputs=3) for s in (1.0, 4.0)),
        LayerSpec(relu, placed=True),
        LayerSpec(relu, placed=True, max_inputs=3),
        *(LayerSpec(rbf, weight_scale=scale) for scale in (1.0, 2.0, 4.0)),
    ]


def neurons_for(n_rows: int, degrees: float = np.inf) -> int:
    """Return the number of neurons of a member trained on all of many rows.

    A candidate that used few degrees of freedom gains nothing from many neurons.
    """
    most = min(_NEURONS_PER_ROOT * np.sqrt(n_rows), _NEURONS_PER_DEGREE * degrees, _MOST_NEURONS)
    return int(max(most, _CANDIDATE_NEURONS))


def judged_rows(n_rows: int) -> int:
    """Return how many rows a fit on so many is judged on."""
    least, most = _JUDGED_ROWS
    return int(min(max(_JUDGED_SHARE * n_rows, least), most))


def pool_rows(n_rows: int) -> int:
    """Return how many rows a pool must hold to place the largest layers and to judge them."""
    return max(CANDIDATE_ROWS, judged_rows(n_rows), _MOST_NEURONS)


@dataclass(frozen=True, eq=False)
class Stack:
    """Fitted members with non-negative weights, (number of members, m).

    `honest` (n, m) are errors of the judged rows, each from members and weights that neither
    saw it nor were chosen by it.
    """

    specs: tuple[LayerSpec, ...]
    fitted: tuple[FittedMember, ...]
    weights: Array
    honest: Array
    judged: Judged
    index: np.ndarray[Any, np.dtype[np.int64]]

    def combined(self, part: Callable[[FittedMember], Array]) -> Array:
        """Return the weighted sum over members of an array (n, m) that each of them has."""
        total: Array = 0.0
        for number, fitted in enumerate(self.fitted):
            total = total + part(fitted) * self.weights[number, :][None, :]
        return total

    def best_specs(self, count: int) -> list[tuple[LayerSpec, float]]:
        """Return the members with most weight and how many degrees of freedom each of them used.

        Members with little weight are left out.
        """
        weights = to_numpy(self.weights).sum(axis=1)
        best = np.argsort(-weights, kind="stable")[:count]
        worth = weights[best] >= _LEAST_SHARE * weights.sum()
        worth[0] = True
        return [(self.specs[k], self.fitted[k].degrees) for k in best[worth]]


def fit_stack(
    pool: Pool, specs: Sequence[LayerSpec] | None, rule: AlphaRule, most: int | None = None
) -> Stack:
    """Train and stack the given layers, or those that a comparison of candidates selects.

    `most` limits how many are selected.
    """
    if specs is None:
        sample = pool.judged(CANDIDATE_ROWS)
        stack = _stacked(pool, sample, candidates(_CANDIDATE_NEURONS), rule, whole=True)
        if len(sample[1]) < pool.n_distinct:
            best = stack.best_specs(most or _FINAL_MEMBERS)
            specs = [spec.resized(neurons_for(pool.n_distinct, d)) for spec, d in best]
        elif most is not None and most < len(stack.specs):
            specs = [spec for spec, _ in stack.best_specs(most)]
        else:
            return stack
    largest = max(spec.n_neurons for spec in specs)
    return _stacked(pool, pool.judged(max(judged_rows(pool.n_distinct), largest)), specs, rule)


def _stacked(
    pool: Pool,
    sample: tuple[Judged, np.ndarray[Any, np.dtype[np.int64]]],
    specs: Sequence[LayerSpec],
    rule: AlphaRule,
    *,
    whole: bool = False,
) -> Stack:
    """Train every member, stack them, and drop those without weight.

    They are trained on all rows, or on the sample only where it shall stand for the `whole`.
    """
    judged, index = sample
    layers = [pool.draw(spec, number) for number, spec in enumerate(specs)]
    rows = None if whole or len(index) == pool.n_distinct else pool.training
    fitted = fit_members(rows, judged, layers, rule, pool.eps)
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
