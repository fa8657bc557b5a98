"""BLAS's product with a triangular matrix, with which half the arithmetic is saved.

SciPy's wrapper of it holds the interpreter's lock, so that threads would wait for each other. The
function behind the wrapper is public to compiled code (`scipy.linalg.cython_blas`), and ctypes
calls it without the lock. Where it does not look as expected there is none, and callers make do.
"""

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.linalg import cython_blas

Shape: TypeAlias = Literal["upper", "lower"]

_NAMES = {np.dtype(np.float32): "strmm", np.dtype(np.float64): "dtrmm"}
_SCALARS = {np.dtype(np.float32): ctypes.c_float, np.dtype(np.float64): ctypes.c_double}
# side, uplo, transa, diag, m, n, alpha, a, lda, b, ldb: Fortran takes addresses.
_ARGUMENTS = ("char *",) * 4 + ("int *",) * 2 + ("{0} *",) * 2 + ("int *", "{0} *", "int *")
_letters = {letter: ctypes.create_string_buffer(letter.encode()) for letter in "LUN"}


def times_triangle(T: np.ndarray[Any, Any], F: np.ndarray[Any, Any], shape: Shape) -> bool:
    """Replace T (n, L) by TF, with F (L, L) triangular; False where that cannot be done here.

    Both lie in memory row by row, and what F has beyond its triangle is not read.
    """
    function = _found(T.dtype)
    fits = T.dtype == F.dtype and F.shape == (T.shape[1], T.shape[1])
    if function is None or not fits or not _by_rows(T) or not _by_rows(F):
        return False
    rows, size = (ctypes.c_int(length) for length in T.shape)
    one = _SCALARS[T.dtype](1.0)
    # Fortran sees both transposed: FᵀTᵀ, and the other triangle.
    letters = ("L", "L" if shape == "upper" else "U", "N", "N")
    function(
        *(ctypes.addressof(_letters[letter]) for letter in letters),
        *(ctypes.addressof(number) for number in (size, rows, one)),
        F.ctypes.data,
        ctypes.addressof(size),
        T.ctypes.data,
        ctypes.addressof(size),
    )
    return True


def _by_rows(A: np.ndarray[Any, Any]) -> bool:
    return A.size > 0 and A.flags.c_contiguous and max(A.shape) < 2**31


@cache
def _found(dtype: np.dtype[Any]) -> Callable[..., None] | None:
    """Return BLAS's function for numbers of that type, if its arguments are those known here."""
    name = _NAMES.get(dtype)
    capsule = getattr(cython_blas, "__pyx_capi__", {}).get(name)
    if name is None or capsule is None:
        return None
    python, anything, text = ctypes.pythonapi, ctypes.py_object, ctypes.c_char_p
    name_of = ctypes.PYFUNCTYPE(text, anything)(("PyCapsule_GetName", python))
    pointer_of = ctypes.PYFUNCTYPE(ctypes.c_void_p, anything, text)(
        ("PyCapsule_GetPointer", python)
    )
    signature = name_of(capsule)
    if not _expected(signature.decode(), name):
        return None
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(_ARGUMENTS))
    found: Callable[..., None] = prototype(pointer_of(capsule, signature))
    return found


def _expected(signature: str, name: str) -> bool:
    """Tell whether a signature has whole numbers of 32 bits where they are given as such."""
    number = f"__pyx_t_5scipy_6linalg_11cython_blas_{name[0]}"
    return signature == f"void ({', '.join(_ARGUMENTS).format(number)})"
