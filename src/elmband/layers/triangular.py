"""Squared lengths of rows times a triangular matrix, at little more than half the arithmetic."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import Array, cast, namespace
from elmband.layers.blas import Shape, times_triangle
from elmband.sums.products import product, squared_norms, wide

# Columns of the matrix taken at once: narrower ones save more arithmetic and run less well.
_BLOCK = 96
_DEVICE_BLOCK = 128


def squared_lengths(H: Array, F: Array, shape: Shape, *, spare: bool = False) -> Array:
    """Return ‖hF‖² of every row h of H (n, L), (n,); the zeros of F (L, L) are not touched.

    An H to `spare` is overwritten where that saves a copy.
    """
    H = wide(H)
    F = cast(F, H.dtype)
    if isinstance(H, np.ndarray):
        T = H if spare else _copy(H)
        if times_triangle(T, np.ascontiguousarray(F), shape):
            return squared_norms(T)
    total: Array = 0.0
    for rows, columns in _blocks(H, shape):
        total = total + squared_norms(_product(H[:, rows], F[rows, columns]))
    return total


def turned(H: Array, F: Array) -> Array:
    """Return HF with F (L, L) upper triangular; on NumPy it lasts until another product."""
    H = wide(H)
    F = cast(F, H.dtype)
    if isinstance(H, np.ndarray):
        T = _copy(H)
        if times_triangle(T, np.ascontiguousarray(F), "upper"):
            return T
        return np.matmul(H, np.triu(F), out=T)
    parts = [product(H[:, rows], F[rows, columns]) for rows, columns in _blocks(H, "upper")]
    return namespace(H).concat(parts, axis=1)


def _blocks(H: Array, shape: Shape) -> Iterator[tuple[slice, slice]]:
    """Yield rows and columns of the blocks of a triangle, without most of its zeros."""
    size = int(H.shape[1])
    block = _BLOCK if isinstance(H, np.ndarray) else max(_DEVICE_BLOCK, size // 8)
    for start in range(0, size, block):
        stop = min(start + block, size)
        rows = slice(0, stop) if shape == "upper" else slice(start, size)
        yield rows, slice(start, stop)


def _copy(H: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    T = engine.scratch("product", H.shape, H.dtype)
    np.copyto(T, H)
    return T


def _product(A: Array, B: Array) -> Array:
    if isinstance(A, np.ndarray):
        out = engine.scratch("product", (A.shape[0], B.shape[1]), A.dtype)
        return np.matmul(A, B, out=out)
    return product(A, B)
