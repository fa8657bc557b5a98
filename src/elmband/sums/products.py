"""Products of matrices: in the dtype of the rows, those over rows summed in float64.

Float32 products over very many rows lose digits, so they run over blocks of rows whose sums are
added in float64. NumPy's chunks are such blocks already; devices want far more rows at once, and
get their blocks as a batch. A product of rows with themselves is symmetric: of four quarters three
are computed, and of wide ones still less.

With "high" precision the products themselves are in float64, of float32 rows. GPUs have units that
round float32 numbers to 11 bits before they multiply, and are several times faster: they are used
with "fast" only, whatever a process has set for itself. Hidden outputs never go through them, so
that models stay the same on all machines.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from elmband.ground.arrays import Array, Precision, double, namespace

# Rows whose float32 products are summed in float32. GPUs add rows one
# by one, which loses more digits the more there are; BLAS on processors sums in short pieces.
_BLOCK_ROWS = 512
# Blocks whose sums are added in float32, a few at a time.
_GROUP = 8
_SUM_ROWS = 256
# Least columns at which the halves of a symmetric product are halved again.
_WIDE = 512
# Products of blocks that are held at once, in numbers.
_BATCH_SIZE = 2**27

_units: ContextVar[Precision] = ContextVar("units", default="auto")


@contextmanager
def precisely(precision: Precision) -> Iterator[None]:
    """Let products within the context be as precise as that, whatever the process has set."""
    token = _units.set(precision)
    try:
        with _rounded(allowed=False):
            yield
    finally:
        _units.reset(token)


@contextmanager
def _rounded(*, allowed: bool) -> Iterator[None]:
    """Allow or forbid PyTorch to round float32 numbers on a GPU."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    settings = torch.backends.cuda.matmul
    # The older name of the setting warns where the newer one exists.
    name, values = (
        ("fp32_precision", ("ieee", "tf32"))
        if hasattr(settings, "fp32_precision")
        else ("allow_tf32", (False, True))
    )
    before = getattr(settings, name)
    if before == values[allowed]:
        yield
        return
    setattr(settings, name, values[allowed])
    try:
        yield
    finally:
        setattr(settings, name, before)


def wide(A: Array) -> Array:
    """Return a matrix in the dtype of its products."""
    return double(A) if _units.get() == "high" else A


def product(A: Array, B: Array) -> Array:
    """Return AB, of matrices or batches of them."""
    A, B = wide(A), wide(B)
    if _units.get() != "fast" or isinstance(A, np.ndarray):
        return A @ B
    with _rounded(allowed=True):
        return A @ B


def squares(H: Array) -> Array:
    """Return Σ hᵀh over rows h of H (n, L), (L, L) in float64."""
    H = wide(H)
    xp = namespace(H)
    if isinstance(H, np.ndarray) or H.dtype == xp.float64:
        return double(H.T @ H)
    # GPUs multiply multiples of 32 columns fastest.
    half = -(-H.shape[1] // 64) * 32
    if half >= H.shape[1]:
        return cross(H, H)
    inner = squares if half >= _WIDE else (lambda part: cross(part, part))
    left, right = H[:, :half], H[:, half:]
    corner = cross(left, right)
    top = xp.concat([inner(left), corner], axis=1)
    bottom = xp.concat([corner.T, inner(right)], axis=1)
    return xp.concat([top, bottom], axis=0)


def cross(A: Array, B: Array) -> Array:
    """Return AᵀB (L, m) in float64."""
    A, B = wide(A), wide(B)
    xp = namespace(A)
    if isinstance(A, np.ndarray) or A.dtype == xp.float64:
        return double(A.T @ B)
    most = max(_BATCH_SIZE // int(A.shape[1] * B.shape[1] * _GROUP), 1) * _GROUP * _BLOCK_ROWS
    return sum(_summed(A[part, :], B[part, :]) for part in _parts(int(A.shape[0]), most))


def _parts(n: int, most: int) -> Iterator[slice]:
    """Cut rows into parts of groups of blocks, then of blocks, then what is left."""
    start = 0
    for unit in (_GROUP * _BLOCK_ROWS, _BLOCK_ROWS, 1):
        end = n - (n - start) % unit
        while start < end:
            stop = min(start + most, end)
            yield slice(start, stop)
            start = stop


def _summed(A: Array, B: Array) -> Array:
    """Return AᵀB of rows that are some blocks, or less than one."""
    xp = namespace(A)
    rows = min(_BLOCK_ROWS, int(A.shape[0]))
    left, right = (xp.reshape(M, (-1, rows, M.shape[1])) for M in (A, B))
    sums = product(xp.matrix_transpose(left), right)
    if sums.shape[0] % _GROUP == 0:
        # A few float32 numbers add up without a loss, and devices convert slowly.
        sums = xp.sum(xp.reshape(sums, (-1, _GROUP, *sums.shape[1:])), axis=1)
    return xp.sum(sums, axis=0, dtype=xp.float64)


def column_sums(X: Array) -> Array:
    """Return the sum of every column of float32 numbers, (d,) in float64."""
    xp = namespace(X)
    # Shorter blocks than those of products, whose units sum in pieces.
    first = int(X.shape[0]) // _SUM_ROWS * _SUM_ROWS
    blocks = xp.sum(xp.reshape(X[:first, :], (-1, _SUM_ROWS, X.shape[1])), axis=1)
    rest = xp.sum(X[first:, :], axis=0, dtype=xp.float64)
    return xp.sum(blocks, axis=0, dtype=xp.float64) + rest


def squared_norms(T: Array) -> Array:
    """Return ‖t‖² of every row, (n,)."""
    xp = namespace(T)
    # Libraries of devices run vecdot as many tiny products, and norms in one go.
    return xp.vecdot(T, T) if isinstance(T, np.ndarray) else xp.linalg.vector_norm(T, axis=1) ** 2
