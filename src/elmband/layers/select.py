"""Structure selection: which neurons of a layer to keep, judged by rows left out.

- OP-ELM (Miche et al. 2010): neurons ranked by least angle regression (LARS) on the Gram matrix,
  then as many of the best ones as give least squares its least leave-one-out error.
- TROP-ELM (Miche et al. 2011): the same, with the best L2 strength γ for every number of neurons.
- The number of neurons alone, with γ given or chosen beside it, by leave-one-out, k-fold
  cross-validation or a validation set. The first columns of H are the smaller layers.

Several outputs share the neurons: their errors are added up, each in units of its own Σ s·y².
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import Any, TypeAlias

import numpy as np
from scipy.linalg import solve_triangular

from elmband.engines import engine
from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.layers.dual import RowSpectrum
from elmband.layers.hidden import HiddenLayer, NumpyArray
from elmband.layers.output_layer import RidgeProblem, SquaredErrors, leave_one_out_errors
from elmband.layers.solve import Spectrum, alpha_grid, best_alpha, check_finite
from elmband.sums.moments import Chunk, Gram, gram
from elmband.sums.rows import ArrayRows

Indices: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Pairs: TypeAlias = list[tuple[int, NumpyArray]]
_EPS = float(np.finfo(np.float64).eps)
# How many numbers of neurons to try, in equal ratios, where each costs a decomposition.
_COUNTS = 25
# Errors within this of the least count as equal, and the fewest neurons of these are taken.
_TIE = 1e-6
# Below this, 1 - lev is a rounding error: the row alone determines one of the neurons.
_LEAST_REST = 1e-8


@dataclass(frozen=True, eq=False)
class Selection:
    """The chosen neurons, best first, and what every number of neurons would have cost.

    `errors` are squared errors of rows left out, in units of Σ s·y² of all rows, by `counts`;
    `alpha` is the γ of every output that goes with the choice, zero for OP-ELM.
    """

    neurons: Indices
    counts: Indices
    errors: NumpyArray
    alpha: NumpyArray

    @classmethod
    def best(cls, order: Indices, pairs: Pairs, squares: NumpyArray, YtY: Array) -> "Selection":
        """Choose from the squared errors of all pairs, one below the other, and outputs."""
        counts, grids = zip(*pairs, strict=True)
        parts = np.split(squares, np.cumsum([len(alphas) for alphas in grids])[:-1])
        least = np.stack([part.min(axis=0) for part in parts])
        errors = (least / _unit(to_numpy(YtY))).mean(axis=1)
        chosen = int(np.argmax(errors <= errors.min() * (1 + _TIE)))
        alpha = best_alpha(grids[chosen], parts[chosen])
        return cls(order[: counts[chosen]], np.array(counts), errors, alpha)


def keep(hidden: HiddenLayer, neurons: Indices) -> HiddenLayer:
    """Return a layer of the given neurons only, in NumPy and in the order they were drawn in."""
    blocks, start = [], 0
    for block in hidden.blocks:
        own = np.sort(neurons[(neurons >= start) & (neurons < start + block.count)]) - start
        if own.size:
            weights, bias = to_numpy(block.weights)[:, own], to_numpy(block.bias)[own]
            blocks.append(replace(block, weights=weights, bias=bias, passes=False))
        start += block.count
    return HiddenLayer(tuple(blocks))


def keep_sums(sums: Gram, neurons: Indices) -> Gram:
    """Return the sums of the given neurons only, in the given order."""
    HtH = _take(_take(sums.HtH, neurons, 0), neurons, 1)
    return Gram(sums.n, _take(sums.HtY, neurons, 0), sums.YtY, HtH)


def rank_neurons(sums: Gram, eps: float = _EPS) -> Indices:
    """Rank neurons by LARS, the best first, from HᵀH and Hᵀy; `eps` is the rounding of these.

    Columns of H and y are scaled to unit length, so that scale does not decide; not centred, as
    the model has no intercept. With several outputs, a neuron counts by its best place. Neurons
    that are combinations of earlier ones come last.
    """
    HtH, HtY, YtY = to_numpy(sums.HtH), to_numpy(sums.HtY), to_numpy(sums.YtY)
    check_finite(float(np.trace(HtH)))
    length, size = np.sqrt(_unit(np.diag(HtH))), len(HtH)
    correlations = HtY / length[:, None] / np.sqrt(_unit(YtY))
    places = np.full(HtY.T.shape, size)
    for place_of, c in zip(places, correlations.T, strict=True):
        order = _least_angle(HtH / np.outer(length, length), c, size * eps)
        place_of[order] = np.arange(len(order))
    return np.lexsort((places.sum(axis=0), places.min(axis=0)))


def _least_angle(G: NumpyArray, c: NumpyArray, cut: float) -> list[int]:
    """Return the order in which LARS takes up neurons with Gram matrix G and correlations c.

    All neurons A in use have correlations ±C with the residual, and the fit moves so that these
    shrink alike: along G_A⁻¹ s with the signs s, which changes the correlations of all neurons by
    a = G_·A G_A⁻¹ s, until another one is as large as C. With the Cholesky factor G_A = R_AᵀR_A,
    R as wide as G, and R_Aᵀu = s, this is a = Rᵀu. Signs never change, so that one more neuron is
    one more row of R and one more element of u.
    """
    # Written out since scikit-learn's "lar" turns a sign where a coefficient passes zero, and its
    # "lasso" stops early at duplicates: on ordinary hidden layers both lose the least angle.
    R, u, a = np.zeros_like(G), np.zeros_like(c), np.zeros_like(c)
    C, free, order = float(np.abs(c).max()), np.diag(G).copy(), list[int]()
    usable, distance = free > cut, C - np.abs(c)
    while usable.any() and cut < C:
        j, k = int(np.argmin(np.where(usable, distance, np.inf))), len(order)
        order.append(j)
        R[k] = (G[j] - R[:k, j] @ R[:k]) / np.sqrt(free[j])
        u[k] = (np.sign(c[j]) - R[:k, j] @ u[:k]) / R[k, j]
        a += R[k] * u[k]
        free -= R[k] ** 2
        usable &= free > cut
        usable[j] = False
        gaps, speeds = np.maximum([C - c, C + c], 0), np.array([1 - a, 1 + a])
        distance = np.where(speeds > 0, gaps / np.where(speeds > 0, speeds, 1), np.inf).min(axis=0)
        step = min(float(np.where(usable, distance, np.inf).min()), C)
        c, C = c - step * a, C - step
    return order


def op_elm(problem: RidgeProblem, sums: Gram) -> Selection:
    """Rank neurons by LARS, and cut where least squares has its least leave-one-out error."""
    order = rank_neurons(sums, problem.eps)
    pairs = [(k, np.zeros(1)) for k in range(1, len(order) + 1)]
    return Selection.best(order, pairs, press_by_count(problem, sums, order), sums.YtY)


def press_by_count(problem: RidgeProblem, sums: Gram, order: Indices) -> Array:
    """Return the sum of s·(leave-one-out residual)² of least squares on the first k neurons.

    For all k = 1 … L and every output, (L, m). In an orthonormal basis Q = HT of the ranked
    columns, T upper triangular, fits on more neurons contain those on fewer:

        lev_i(k) = Σ_{j ≤ k} q_ij²,    r_i(k) = y_i - Σ_{j ≤ k} q_ij c_j,    c = Qᵀy.

    T comes from a Cholesky factor, twice: Q from the first is not orthonormal to full precision
    where neurons are nearly collinear, Q from the second is.
    """
    first = _orthogonaliser(to_numpy(keep_sums(sums, order).HtH), problem.eps)

    def basis(chunk: Chunk, T: NumpyArray) -> Chunk:
        rows = _numpy_rows(problem, order, chunk)
        return rows._replace(X=rows.X @ T)

    again = engine.total(problem.rows, lambda chunk: gram(basis(chunk, first)))
    second = _orthogonaliser(again.HtH, _EPS)
    T, c = first @ second, second.T @ again.HtY
    return engine.total(problem.rows, lambda chunk: _press(basis(chunk, T), c)).squares


def _orthogonaliser(G: NumpyArray, eps: float) -> NumpyArray:
    """Return T, upper triangular, with TᵀGT = I but for neurons that add nothing: zero columns."""
    R, T, size = np.zeros_like(G), np.zeros_like(G), len(G)
    for k in range(size):
        row = G[k, k:] - R[:k, k] @ R[:k, k:]
        if row[0] > size * eps * G[k, k]:
            R[k, k:] = row / np.sqrt(row[0])
    adds = np.flatnonzero(np.diag(R))
    T[np.ix_(adds, adds)] = solve_triangular(R[np.ix_(adds, adds)], np.eye(len(adds)))
    return T


def _press(rows: Chunk, c: NumpyArray) -> SquaredErrors:
    """Sum squared leave-one-out residuals for the first 1 … L columns of an orthonormal basis."""
    Q, Y, s = rows.X, rows.Y, np.asarray(rows.s)
    rest = 1 - s[:, None] * np.cumsum(Q**2, axis=1)
    # A row that alone determines a neuron has leverage 1 from there on. Without the row that
    # neuron would be of no use, so the row keeps the error it had before.
    last = np.minimum(np.arange(1, Q.shape[1] + 1), (rest > _LEAST_REST).sum(axis=1)[:, None])
    r = Y[:, None, :] - np.cumsum(Q[:, :, None] * c, axis=1)
    e = np.concatenate([Y[:, None, :], r / np.maximum(rest, _LEAST_REST)[:, :, None]], axis=1)
    return SquaredErrors(np.tensordot(s, np.take_along_axis(e, last[:, :, None], 1) ** 2, 1))


def trop_elm(problem: RidgeProblem, sums: Gram, counts: Sequence[int] | None = None) -> Selection:
    """Rank neurons by LARS, and choose their number and γ by leave-one-out together."""
    order = rank_neurons(sums, problem.eps)
    pairs = _pairs(keep_sums(sums, order), problem.eps, None, counts)
    return Selection.best(order, pairs, _left_out(problem, sums, order, pairs), sums.YtY)


def select_count(
    problem: RidgeProblem,
    sums: Gram,
    alpha: float | None = None,
    counts: Sequence[int] | None = None,
    folds: Indices | None = None,
) -> Selection:
    """Choose how many of the first neurons to keep, and γ beside it where `alpha` is None.

    Without `folds`, by leave-one-out. `folds` numbers the rows: those of each fold are predicted
    by a model of all other rows. Rows of fold -1 only train, which makes fold 0 a validation set.
    """
    order, pairs = np.arange(problem.n_neurons), _pairs(sums, problem.eps, alpha, counts)
    if folds is None:
        squares = _left_out(problem, sums, order, pairs)
    else:
        squares = _held_out(problem, pairs, folds)
    return Selection.best(order, pairs, squares, sums.YtY)


def _pairs(sums: Gram, eps: float, alpha: float | None, counts: Sequence[int] | None) -> Pairs:
    """Return the numbers of neurons to try, in ascending order, each with the γ to try."""
    traces, size = np.cumsum(np.diag(to_numpy(sums.HtH))), sums.HtH.shape[0]
    check_finite(float(traces[-1]))
    default = np.rint(np.geomspace(1, size, _COUNTS)).astype(int).tolist()
    ascending = sorted(set(default if counts is None else counts))
    if not ascending or ascending[0] < 1 or ascending[-1] > size:
        raise ValueError(f"counts must lie between 1 and the {size} neurons; got {counts!r}.")
    if alpha is not None:
        return [(k, np.array([alpha])) for k in ascending]
    return [(k, alpha_grid(float(traces[k - 1]), k, eps, traces)) for k in ascending]


def _left_out(problem: RidgeProblem, sums: Gram, order: Indices, pairs: Pairs) -> NumpyArray:
    """Return the sum of s·(leave-one-out residual)² of every pair and output.

    Counts that rows do not far outnumber go by the dual form, where nothing cancels.
    """
    sums = keep_sums(sums, order)
    HtH, HtY = to_numpy(sums.HtH), to_numpy(sums.HtY)
    primal = [pair for pair in pairs if not replace(problem, n_neurons=pair[0]).dual]
    spectra = [Spectrum.of(HtH[:k, :k], problem.eps) for k, _ in primal]

    def chunk_map(chunk: Chunk) -> SquaredErrors:
        rows, parts = _numpy_rows(problem, order, chunk), []
        for (k, alphas), spectrum in zip(primal, spectra, strict=True):
            first = rows._replace(X=rows.X[:, :k])
            parts.append(leave_one_out_errors(first, spectrum, HtY[:k], alphas).squares)
        return SquaredErrors(np.concatenate(parts))

    squares = [engine.total(problem.rows, chunk_map).squares] if primal else []
    for k, alphas in pairs[len(primal) :]:
        rows = _numpy_rows(problem, order[:k], problem.rows.whole())
        r, rest = RowSpectrum.of_rows(rows, problem.eps).residuals(rows, alphas[:, None])
        squares.append(np.tensordot((r / rest) ** 2, np.asarray(rows.s), axes=(1, 0)))
    return np.concatenate(squares)


def _held_out(problem: RidgeProblem, pairs: Pairs, folds: Indices) -> NumpyArray:
    """Return the sum of s·(residual)² of every pair and output, over rows of folds held out.

    One pass sums up every fold; all others together train what predicts it in the second pass.
    """
    numbers = np.unique(folds)
    if len(numbers) < 2:
        raise ValueError("Holding out rows needs two folds at least; there is only one.")
    parts = [_subset(problem, np.flatnonzero(folds == number)) for number in numbers]

    def errors(chunk: Chunk, beta: NumpyArray) -> SquaredErrors:
        rows = _numpy_rows(problem, np.arange(problem.n_neurons), chunk)
        r = rows.Y[:, None, :] - np.tensordot(rows.X, beta, 1)
        return SquaredErrors(np.tensordot(np.asarray(rows.s), r**2, 1))

    sums, total = [part.gram() for part in parts], np.zeros(1)
    for f in np.flatnonzero(numbers >= 0):
        beta = _coefs(reduce(add, sums[:f] + sums[f + 1 :]), pairs, problem.eps)
        total = total + engine.total(parts[f].rows, partial(errors, beta=beta)).squares
    return total


def _coefs(sums: Gram, pairs: Pairs, eps: float) -> NumpyArray:
    """Return the output weights of every pair, zero for neurons not used, (L, pairs, m)."""
    HtH, HtY, columns = to_numpy(sums.HtH), to_numpy(sums.HtY), []
    for k, alphas in pairs:
        spectrum = Spectrum.of(HtH[:k, :k], eps)
        shrunk = spectrum.weights(alphas)[:, :, None] * (spectrum.vectors.T @ HtY[:k])[:, None, :]
        beta = np.tensordot(spectrum.vectors, shrunk, axes=1)
        columns.append(np.pad(beta, ((0, len(HtH) - k), (0, 0), (0, 0))))
    return np.concatenate(columns, axis=1)


def _numpy_rows(problem: RidgeProblem, order: Indices, chunk: Chunk) -> Chunk:
    """Return hidden outputs in the given order, targets and weights, in NumPy and float64."""
    rows = problem.to_hidden(chunk)
    s = np.ones(rows.X.shape[0]) if rows.s is None else to_numpy(double(rows.s))
    return Chunk(to_numpy(double(rows.X))[:, order], to_numpy(double(rows.Y)), s)


def _subset(problem: RidgeProblem, index: Indices) -> RidgeProblem:
    rows = Chunk(*(None if a is None else _take(a, index, 0) for a in problem.rows.whole()))
    return replace(problem, rows=ArrayRows.of(rows))


def _take(array: Array, index: Indices, axis: int) -> Array:
    xp = namespace(array)
    return xp.take(array, place(index, array, xp.int64), axis=axis)


def _unit(squares: NumpyArray) -> NumpyArray:
    return np.where(squares > 0, squares, 1.0)
