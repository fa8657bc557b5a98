"""What the rest of the package needs to know about array libraries, in one place."""

from threading import Lock
from typing import Any, Literal, TypeAlias

import array_api_compat
import array_api_compat.numpy
import numpy as np

Array: TypeAlias = Any
Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Keys: TypeAlias = np.ndarray[Any, np.dtype[np.uint64]]
Labels: TypeAlias = np.ndarray[Any, Any]
Precision: TypeAlias = Literal["auto", "float32", "float64", "high", "fast"]

PRECISIONS = ("auto", "float32", "float64", "high", "fast")

# These hold at most 16 bits, so float32 represents every one of their values exactly.
_SMALL_DTYPES = ("bool", "int8", "uint8", "int16", "uint16", "float16", "bfloat16", "float32")


_LINALG_LOCK = Lock()
_linalg_is_loaded = False


def namespace(*arrays: Array) -> Any:
    """Return the array API namespace that the given arrays share."""
    # Called thousands of times in a fit: a short cut for NumPy.
    if len(arrays) == 1 and type(arrays[0]) is np.ndarray:
        return array_api_compat.numpy
    return array_api_compat.array_namespace(*arrays)


def product_dtype(X: Array, precision: Precision = "auto") -> Any:
    """Return the dtype of the matrix products: that of the data, unless overridden.

    Float32 and integers of at most 16 bits give float32, everything else float64.
    "high" and "fast" are ways to multiply float32 numbers. Sums over rows are kept in float64
    in any case.
    """
    xp = namespace(X)
    if precision in ("high", "fast"):
        return xp.float32
    if precision != "auto":
        return getattr(xp, precision)
    return xp.float32 if str(X.dtype).rpartition(".")[-1] in _SMALL_DTYPES else xp.float64


def epsilon(dtype: Any, xp: Any) -> float:
    """Return the distance between 1 and the next larger number of a floating dtype."""
    return float(xp.finfo(dtype).eps)


def is_writeable_array(x: Array) -> bool:
    """Whether parts of arrays of this library can be written to, as those of JAX cannot."""
    return array_api_compat.is_writeable_array(x)


def cast(x: Array, dtype: Any) -> Array:
    """Convert `x` to `dtype`, without a copy where it has that dtype already."""
    if type(x) is np.ndarray:
        return x.astype(dtype, copy=False)
    return namespace(x).astype(x, dtype, copy=False)


def double(x: Array) -> Array:
    """Convert `x` to float64."""
    return cast(x, namespace(x).float64)


def place(x: Array, like: Array, dtype: Any = None) -> Array:
    """Move `x` to the library and device of `like`, in the dtype of `like` by default."""
    dtype = like.dtype if dtype is None else dtype
    if type(x) is np.ndarray and type(like) is np.ndarray:
        return cast(x, dtype)
    xp = namespace(like)
    if array_api_compat.is_array_api_obj(x) and namespace(x) is xp:
        return array_api_compat.to_device(cast(x, dtype), array_api_compat.device(like))
    return xp.asarray(to_numpy(x), dtype=dtype, device=array_api_compat.device(like))


def to_numpy(x: Array) -> np.ndarray[Any, Any]:
    """Copy an array of any library to NumPy; NumPy arrays pass through."""
    if isinstance(x, np.ndarray):
        return x
    if array_api_compat.is_torch_array(x):
        return np.asarray(x.detach().cpu())
    if array_api_compat.is_cupy_array(x):
        return np.asarray(x.get())
    if type(x).__module__.startswith("array_api_strict"):
        # It imitates several devices, and NumPy can read only the one called CPU.
        return np.asarray(x.to_device(namespace(x).Device("CPU_DEVICE")))
    return np.asarray(x)


def add_to_diagonal(matrix: Array, values: Array) -> Array:
    """Return a matrix with `values`, one or as many as it has rows, added to its diagonal.

    A NumPy matrix is overwritten: all other ways write the whole of it three times more.
    """
    if isinstance(matrix, np.ndarray):
        np.einsum("ii->i", matrix)[...] += values
        return matrix
    xp = namespace(matrix)
    eye = xp.eye(matrix.shape[0], dtype=matrix.dtype, device=matrix.device)
    return matrix + eye * values


def at_least(x: Array, least: float) -> Array:
    """Replace smaller values by `least`; what is not a number stays so."""
    if type(x) is np.ndarray:
        return np.maximum(x, least)
    return namespace(x).clip(x, min=least)


def positive(x: Array) -> Array:
    """Replace negative values by zero; what is not a number stays so."""
    xp = namespace(x)
    return xp.where(x < 0, xp.zeros_like(x), x)


def load_linalg(array: Array) -> None:
    """Make a library ready for decompositions from several threads at once.

    PyTorch loads its solvers for GPUs at the first call, and fails with "lazy wrapper should be
    called at most once" where two threads make it.
    """
    global _linalg_is_loaded  # noqa: PLW0603 - a library is loaded once in a process
    if not array_api_compat.is_torch_array(array) or array.device.type == "cpu":
        return
    with _LINALG_LOCK:
        if not _linalg_is_loaded:
            xp = namespace(array)
            xp.linalg.eigh(xp.eye(2, dtype=xp.float64, device=array.device))
            _linalg_is_loaded = True
