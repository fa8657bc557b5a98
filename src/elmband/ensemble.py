"""Members of different kinds, stacked by what they predict for rows left out.

Candidates are small layers of several families and scales. All are trained on a sample of rows;
non-negative weights, fitted to their predictions for rows left out, tell which ones help. On few
rows these are the ensemble; on many, the best few are trained again on all rows with more
neurons, and stacked again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from elmband._arrays import Array, double, namespace, place, to_numpy
from elmband.hidden import FeatureMap, LayerSpec
from elmband.member import FittedMember, Judged, fit_members
from elmband.moments import Chunk
from elmband.output_layer import AlphaRule
from elmband.rows import ArrayRows
from elmband.sample import RowSample, row_keys
from elmband.scaling import Scaling

# Rows that candidates are compared on, and rows that a large fit is judged on.
CANDIDATE_ROWS = 1500
JUDGED_ROWS = 2000
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
# Neurons are placed this far off the training rows, towards others: a row that a neuron sits on
# is predicted better than a new one, and would flatter the layer when left out.
_OFF_ROW = 0.15
# Errors that noise and multipliers are learned from come from γ and weights chosen on other folds.
_FOLDS = 5
_LEAST_FOLDED = 25


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


@dataclass(frozen=True, eq=False)
class Distinct:
    """Rows of which each is met once, with the targets of the rows that it stands for.

    Equal rows have equal predictions, so they enter with their mean target and the sum of their
    weights; leaving one out leaves all of them out. `owner` tells the distinct row of every
    original one.
    """

    rows: ArrayRows
    Y: Array
    s: Array
    owner: np.ndarray[Any, np.dtype[np.int64]]

    @classmethod
    def of(cls, rows: ArrayRows, keys: np.ndarray[Any, np.dtype[np.uint64]]) -> "Distinct":
        """Merge rows with equal keys."""
        Y, s = double(rows.Y), row_weights(rows.whole())
        names, owner = np.unique(keys, return_inverse=True)
        owner = owner.reshape(-1).astype(np.int64)
        if len(names) == len(keys):
            return cls(rows, Y, s, np.arange(len(keys)))
        weights = to_numpy(s)
        total = np.bincount(owner, weights)

        def means(array: Array) -> Array:
            columns = to_numpy(double(array)).T
            merged = [np.bincount(owner, weights * column) / total for column in columns]
            return place(np.stack(merged, axis=1), array)

        merged = replace(rows, X=means(double(rows.X)), Y=means(rows.Y), s=place(total, rows.Y))
        return cls(merged, Y, s, owner)


@dataclass(frozen=True, eq=False)
class Pool:
    """Training rows, and what is needed to draw and judge members on them."""

    distinct: Distinct
    inputs: Scaling
    order: np.ndarray[Any, np.dtype[np.uint64]]
    labels: np.ndarray[Any, Any] | None
    centres: RowSample
    seed: int
    eps: float

    @classmethod
    def of(cls, rows: ArrayRows, inputs: Scaling, labels: Any, seed: int, eps: float) -> "Pool":
        """Hash the rows; equal rows, or rows with equal `labels`, are left out together."""
        Z = to_numpy(double(inputs(rows.X)))
        keys = row_keys(Z, seed)
        names, first = np.unique(keys, return_index=True)
        most = max(neurons_for(len(keys)), CANDIDATE_ROWS)
        centres = RowSample(most, names[:most], Z[first[:most]])
        if labels is None:
            kept = names if len(names) < len(keys) else keys
            order = (kept << np.uint64(32)) | (kept >> np.uint64(32))
            # Rows that neurons are placed at would flatter them: they are judged last.
            order = order >> np.uint64(1) | (kept <= centres.keys[-1]).astype(
                np.uint64
            ) << np.uint64(63)
            return cls(Distinct.of(rows, keys), inputs, order, None, centres, seed, eps)
        distinct = Distinct(rows, double(rows.Y), row_weights(rows.whole()), np.arange(len(keys)))
        _, numbers = np.unique(labels, return_inverse=True)
        shuffled = np.random.default_rng(seed).permutation(int(numbers.max()) + 1)
        order = shuffled[numbers.reshape(-1)].astype(np.uint64)
        return cls(distinct, inputs, order, labels, centres, seed, eps)

    @property
    def rows(self) -> ArrayRows:
        """The distinct rows."""
        return self.distinct.rows

    def judged(self, size: int) -> tuple[Judged, np.ndarray[Any, np.dtype[np.int64]]]:
        """Return about `size` rows, with whole labels, that depend on the rows alone.

        The second result is their positions.
        """
        index = np.arange(len(self.order))
        if len(index) > size:
            index = np.flatnonzero(self.order <= np.sort(self.order)[size - 1])
        xp = namespace(self.rows.X)
        where = place(index, self.rows.X, xp.int64)
        s = None if self.rows.s is None else xp.take(self.rows.s, where, axis=0)
        X, Y = (xp.take(a, where, axis=0) for a in (self.rows.X, self.rows.Y))
        chunk = Chunk(X, Y, s)
        labels = None if self.labels is None else self.labels[index]
        folds = None
        if len(index) >= _LEAST_FOLDED:
            folds = (self.order[index] % np.uint64(_FOLDS)).astype(np.int64)
        return Judged(chunk, row_weights(chunk), labels, folds), index

    def draw(self, spec: LayerSpec, number: int) -> FeatureMap:
        """Draw the layer of member `number`."""
        n_features = int(self.rows.X.shape[1])
        hidden = spec.draw(n_features, self.seed + number, self.centres.near(_OFF_ROW))
        return FeatureMap(self.inputs, hidden).to(self.rows.X, self.rows.Y.dtype)


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
    n = len(pool.rows)
    if specs is None:
        judged, index = pool.judged(CANDIDATE_ROWS)
        rows = ArrayRows(*judged.rows, chunk_size=pool.rows.chunk_size)
        stack = _stacked(pool, rows, (judged, index), candidates(_CANDIDATE_NEURONS), rule)
        if len(rows) < n:
            best = stack.best_specs(most or _FINAL_MEMBERS)
            specs = [spec.resized(neurons_for(n, degrees)) for spec, degrees in best]
        elif most is not None and most < len(stack.specs):
            specs = [spec for spec, _ in stack.best_specs(most)]
        else:
            return stack
    largest = max(spec.n_neurons for spec in specs)
    return _stacked(pool, pool.rows, pool.judged(max(JUDGED_ROWS, largest)), specs, rule)


def _stacked(
    pool: Pool,
    rows: ArrayRows,
    sample: tuple[Judged, np.ndarray[Any, np.dtype[np.int64]]],
    specs: Sequence[LayerSpec],
    rule: AlphaRule,
) -> Stack:
    """Train every member on `rows`, stack them, and drop those without weight."""
    judged, index = sample
    layers = [pool.draw(spec, number) for number, spec in enumerate(specs)]
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


def row_weights(rows: Chunk) -> Array:
    """Return the weights of rows in float64, ones where there are none."""
    xp = namespace(rows.Y)
    return xp.ones_like(double(rows.Y[:, 0])) if rows.s is None else double(rows.s)
