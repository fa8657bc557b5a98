"""Variances h Σ hᵀ of rows, from half of the matrix where it has a root."""

from typing import Any

import numpy as np

from elmband.ground.arrays import Array, to_numpy
from elmband.layers.packed_root import PackedRoot
from elmband.layers.quadratic import CovarianceRoot
from elmband.models.onnx_export._functions import positive
from elmband.models.onnx_export._graph import DOUBLE, SINGLE, Tensor, joined
from elmband.uncertainty.noise.fast import LowRank

# Columns of a root taken at once: fewer store less of its zeros, and run less well.
_BLOCK = 128

Floats = np.ndarray[Any, np.dtype[np.float64]]


def quadratic_form(H: Tensor, covariance: Array) -> Tensor:
    """Return h Σ hᵀ of every row, (n, 1); rounding is not let below zero."""
    return positive(((H @ covariance) * H).reduced("ReduceSum"))


def quadratic(H: Tensor, covariance: Array, *, intercept: bool = False) -> Tensor:
    """Return h Σ hᵀ = ‖hC‖² of every row, (n, 1), with C a root of Σ.

    With an `intercept`, Σ has one more row and column before those of h, for which h has a one.
    """
    found = CovarianceRoot.of(to_numpy(covariance)[None, ...])
    (matrix,) = to_numpy(found.factors)
    if found.kind == "triangular":
        return _squared_length(H, matrix, intercept=intercept)
    if found.kind == "none" and not intercept:
        return quadratic_form(H, matrix)
    # The one of the intercept is added to the product rather than to every row.
    T = H.apply("Gemm", matrix[1:], matrix[0]) if intercept else H @ matrix
    if found.kind == "narrow":
        return T.reduced("ReduceSumSquare")
    return positive(T.columns(0, 1) + (T.columns(1, len(matrix)) * H).reduced("ReduceSum"))


def packed_form(H: Tensor, root: PackedRoot, output: int) -> Tensor:
    """Return ‖hC‖² of an output, (n, 1), in float32 for hidden outputs h with a one before them.

    Rows are divided by their largest entry, if it is above one: float32 holds no square of others.
    """
    unit = H.apply("Abs").reduced("ReduceMax").apply("Max", 1.0)
    scaled = joined([1.0 / unit, H / unit]).to(SINGLE)
    matrix = to_numpy(root.root.factors[output, ...])
    squares = _squared_length(scaled, matrix, intercept=False)
    unit = unit.to(DOUBLE)
    return squares.to(DOUBLE) * unit * unit


def _squared_length(H: Tensor, root: Floats, *, intercept: bool) -> Tensor:
    """Return ‖hC‖² of a triangular root, by blocks of columns without the zeros above them."""
    size = len(root)
    total: Tensor | None = None
    for start in range(0, size, _BLOCK):
        block = root[:, start : start + _BLOCK]
        if start == 0 and intercept:
            T = H.apply("Gemm", block[1:], block[0])
        elif start == 0:
            T = H @ block
        else:
            first = start - int(intercept)
            T = H.columns(first, size - int(intercept)) @ block[start:]
        squares = T.reduced("ReduceSumSquare")
        total = squares if total is None else total + squares
    assert total is not None
    return total


def low_rank_form(H: Tensor, low_rank: LowRank) -> Tensor:
    """Return ‖hF‖² + rest of every row and output, (n, m)."""
    factors, rest = to_numpy(low_rank.factors), to_numpy(low_rank.rest)
    columns = [
        (H @ factor).reduced("ReduceSumSquare") + constant[None, None]
        for factor, constant in zip(factors, rest, strict=True)
    ]
    return joined(columns)
