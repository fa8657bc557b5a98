"""Products of rows with themselves: in the dtype of the rows, summed in float64.

Float32 products over very many rows lose digits, so they run over blocks of rows whose sums are
added in float64. NumPy's chunks are such blocks already; devices want far more rows at once, and
get their blocks as a batch. A product of rows with themselves is symmetric: of four quarters three
are computed.
"""

from typing import Any

import numpy as np

from elmband._arrays import Array, double, namespace

# Rows whose float32 products are summed in float32: BLAS libraries of processors sum in pieces of
# about this length themselves.
_BLOCK_ROWS = 1024


def squares(H: Array) -> Array:
    """Return Σ hᵀh over rows h of H (n, L), (L, L) in float64."""
    xp = namespace(H)
    if isinstance(H, np.ndarray) or H.dtype == xp.float64:
        return double(H.T @ H)
    # Devices like columns in bundles.
    half = -(-H.shape[1] // 64) * 32
    if half >= H.shape[1]:
        return cross(H, H)
    left, right = H[:, :half], H[:, half:]
    corner = cross(left, right)
    top = xp.concat([cross(left, left), corner], axis=1)
    bottom = xp.concat([corner.T, cross(right, right)], axis=1)
    return xp.concat([top, bottom], axis=0)


def cross(A: Array, B: Array) -> Array:
    """Return AᵀB (L, m) in float64."""
    xp = namespace(A)
    n = int(A.shape[0])
    if isinstance(A, np.ndarray) or A.dtype == xp.float64 or n <= _BLOCK_ROWS:
        return double(A.T @ B)
    count = n // _BLOCK_ROWS
    first = count * _BLOCK_ROWS
    left, right = (_batched(M[:first, :], count) for M in (A, B))
    batches = xp.matmul(xp.matrix_transpose(left), right)
    total = xp.sum(batches, axis=0, dtype=xp.float64)
    return total if first == n else total + double(A[first:, :].T @ B[first:, :])


def _batched(A: Array, count: int) -> Any:
    return namespace(A).reshape(A, (count, _BLOCK_ROWS, A.shape[1]))


def squared_norms(T: Array) -> Array:
    """Return ‖t‖² of every row, (n,)."""
    xp = namespace(T)
    # Libraries of devices run vecdot as many tiny products.
    return xp.vecdot(T, T) if isinstance(T, np.ndarray) else xp.sum(T * T, axis=1)
