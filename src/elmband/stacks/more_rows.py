"""Errors of more rows left out than a stack was judged on, for noise models and multipliers.

What rows left out need beyond residuals are two quadratic forms in every member's hidden outputs:
the leverage a = h P hᵀ and the variance h Σ hᵀ of the mean. Each is ‖hC‖² with a root C, and takes
as long as all sums of a fit. Of many rows both are a few percent of what they are added to, so an
estimate will do: with random signs G (L, k), ‖hCG‖² / k has the mean ‖hC‖² and a relative standard
deviation of √(2/k) at most.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, cast, double, namespace, place
from elmband.layers.member import FittedMember, Judged
from elmband.layers.quadratic import CovarianceRoot
from elmband.stacks.ensemble import Stack
from elmband.stacks.pool import Pool
from elmband.stacks.stack_variance import with_ones
from elmband.sums.moments import Chunk
from elmband.sums.rows import chunk_slices
from elmband.sums.sample import taken

# Random signs of each neuron: forms of single rows are known to 18 %.
_SIGNS = 64
# A row of which others tell nothing would have an infinite error.
_LEAST_REST = 0.05
_ROWS_AT_ONCE = 2048


class KnownRows(NamedTuple):
    """Rows that noise models are fitted to, and where they are among the distinct ones of a pool.

    Their residuals, their errors when left out and the standard deviation of their mean are (n, m).
    """

    judged: Judged
    places: np.ndarray[Any, np.dtype[np.int64]]
    residuals: Array
    errors: Array
    std: Array


class _Sketch(NamedTuple):
    """Roots of both forms of a member, times random signs, for every output."""

    leverage: list[Array]
    variance: list[Array]


def with_more_rows(
    pool: Pool, stack: Stack, known: KnownRows, roots: tuple[CovarianceRoot, ...], size: int
) -> KnownRows:
    """Add other rows to those that a stack was judged on, up to `size` of them if there are.

    Rows with labels stay as they are: rows that are left out together have no leverages.
    """
    judged, index = pool.judged(size)
    fresh = np.setdiff1d(index, known.places)
    no_roots = any(root.kind == "none" for root in roots)
    if judged.labels is not None or len(fresh) == 0 or no_roots:
        return known
    X = known.residuals
    sketches = [_sketch(f, root) for f, root in zip(stack.fitted, roots, strict=True)]
    rows = taken(judged.weighted_rows, np.searchsorted(index, fresh))
    found = list(engine.on_chunks(lambda chunk: _of_rows(stack, sketches, chunk), _chunks(rows)))
    xp = namespace(X)
    parts = [xp.concat(list(column), axis=0) for column in zip(*found, strict=True)]
    # The rows known before come first; then all are put into their order.
    order = place(np.argsort(np.concatenate([known.places, fresh]), kind="stable"), X, xp.int64)
    joined = [
        xp.take(xp.concat([mine, more], axis=0), order, axis=0)
        for mine, more in zip(known[2:], parts, strict=True)
    ]
    return KnownRows(judged, np.union1d(index, known.places), *joined)


def _chunks(rows: Chunk) -> Iterator[Chunk]:
    for part in chunk_slices(int(rows.X.shape[0]), _ROWS_AT_ONCE):
        yield Chunk(*(None if a is None else a[part, ...] for a in rows))


def _sketch(fitted: FittedMember, root: CovarianceRoot) -> _Sketch:
    eigen, alphas = fitted.eigen, fitted.member.alpha
    xp = namespace(alphas)
    d = xp.sqrt(eigen.weights(alphas))
    outputs = range(int(alphas.shape[0]))
    # The symmetric root of P: eigenvectors have signs that depend on the machine.
    turned = eigen.vectors.T @ _signs(eigen.vectors)
    return _Sketch(
        [eigen.vectors @ (d[:, j][:, None] * turned) for j in outputs],
        [root.factors[j, :, :] @ _signs(root.factors[j, :, :].T) for j in outputs],
    )


def _signs(like: Array) -> Array:
    """Return random signs, divided by the root of their number, for the rows of an array."""
    rng = np.random.default_rng(0)
    return place(rng.choice([-1.0, 1.0], (int(like.shape[0]), _SIGNS)) / _SIGNS**0.5, like)


def _of_rows(stack: Stack, sketches: list[_Sketch], rows: Chunk) -> tuple[Array, Array, Array]:
    """Return residuals, errors when left out and the standard deviation of the mean."""
    Y = double(rows.Y)
    xp = namespace(Y)
    trained = rows if stack.precision is None else stack.precision(rows)
    # Weights need not add up to one: what they lack of y stays in both residuals.
    r = (1 - xp.sum(stack.weights, axis=0)) * Y
    e, std = r, 0 * r
    for k, (fitted, sketch) in enumerate(zip(stack.fitted, sketches, strict=True)):
        H = fitted.member.hidden(rows.X)
        own, wide, weights = Y - double(fitted.member.predict(H)), with_ones(H), stack.weights[k, :]
        a = _lengths(H, sketch.leverage) + 1 / fitted.eigen.n
        rest = xp.clip(1 - double(trained.s)[:, None] * a, min=_LEAST_REST)
        r, e = r + weights * own, e + weights * own / rest
        std = std + weights * xp.sqrt(_lengths(wide, sketch.variance)) / rest
    return r, e, std


def _lengths(H: Array, roots: list[Array]) -> Array:
    """Return ‖hC‖² of every row for every root C, (n, m)."""
    xp = namespace(H)
    return double(xp.stack([xp.sum((H @ cast(C, H.dtype)) ** 2, axis=1) for C in roots], axis=1))
