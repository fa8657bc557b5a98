"""Sums of floats without rounding, so that the order of rows changes nothing."""

import numpy as np

from elmband.ground.arrays import Array

# The least float is 2**-1074, with 53 bits before and after the point of its mantissa.
_BITS = 53
_LEAST = 1074
ONE = 1 << (_BITS + _LEAST)
"""The number 1 in the units of an exact sum."""

_HALF = 27
# So many upper or lower halves of mantissas add up without rounding.
_MOST = 2 ** (_BITS - _HALF)


def exact_sum(values: Array) -> int:
    """Return the sum of finite float64 values (n,), as a whole number of the units of `ONE`.

    A float is m·2ᵉ with a whole m of 53 bits. Values with the same e are added up together, the
    upper and the lower half of m apart, which float64 does without rounding.
    """
    total = 0
    for start in range(0, len(values), _MOST):
        fractions, exponents = np.frexp(values[start : start + _MOST])
        whole = np.ldexp(fractions, _BITS).astype(np.int64)
        places = exponents + _LEAST
        for half, shift in ((whole >> _HALF, _HALF), (whole & (2**_HALF - 1), 0)):
            sums = np.bincount(places, half)
            total += sum(int(sums[k]) << (int(k) + shift) for k in np.flatnonzero(sums))
    return total


def exact_columns(values: Array) -> tuple[int, ...]:
    """Return the exact sum of every column of (n, k)."""
    return tuple(exact_sum(column) for column in values.T)
