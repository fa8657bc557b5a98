"""Sums of the numbers of a column, or of the parts of its dates: exact ones."""

from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.calendar import calendar
from elmband.sources.encode.raw import ColumnError, Nothing, Numbers, Times
from elmband.sources.encode.written import NO_STRAYS, Strays
from elmband.sums.moments import Moments

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


@dataclass(frozen=True, eq=False)
class NumberSums(Moments):
    """Sums of numbers, or of the parts of dates: exact ones, in any order the same.

    Attributes
    ----------
    kind : str
        What the column holds.
    n, missing : int
        Rows, and rows without a value, by weight, as exact sums.
    totals : tuple of int
        Exact sum of each part.
    low, high : array (parts,)
        The least and the largest value.
    narrow : bool
        Whether float32 holds all values.
    boolean : bool
        Whether they are booleans.
    zone : str or None
        Time zone of dates.
    words : Strays
        Text that is missing because a user says that the column holds numbers.
    """

    kind: str
    n: int
    missing: int
    totals: tuple[int, ...]
    low: Array
    high: Array
    narrow: bool = False
    boolean: bool = False
    zone: str | None = None
    words: Strays = NO_STRAYS

    def __add__(self, other: Self) -> Self:
        if self.zone != other.zone:
            raise ColumnError(
                f"holds dates in the time zone {other.zone}, rows before it in {self.zone}; "
                "convert them to one."
            )
        return type(self)(
            kind=self.kind,
            n=self.n + other.n,
            missing=self.missing + other.missing,
            totals=tuple(a + b for a, b in zip(self.totals, other.totals, strict=True)),
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            narrow=self.narrow and other.narrow,
            boolean=self.boolean and other.boolean,
            zone=self.zone,
            words=self.words + other.words,
        )

    @property
    def means(self) -> tuple[float, ...]:
        """Mean of each part over the rows that have a value."""
        return tuple(total / (self.n - self.missing) for total in self.totals)


@dataclass(frozen=True, eq=False)
class NothingSums(Moments):
    """A number of rows without any value, by weight, as an exact sum.

    Their values may have been `words` that are no numbers.
    """

    n: int
    words: Strays = NO_STRAYS
    kind = "nothing"


ValueSums: TypeAlias = NumberSums | NothingSums


def weight_of(n: int, s: Array | None) -> int:
    """Return how much so many rows count, as an exact sum."""
    return n * ONE if s is None else exact_sum(s)


def sum_values(raw: Numbers | Times | Nothing, s: Array | None) -> ValueSums:
    """Sum up some rows, each counted as often as its weight above zero says."""
    missing = raw.missing
    n = weight_of(len(missing), s)
    if isinstance(raw, Nothing) or missing.all():
        return NothingSums(n)
    known = ~missing
    values = calendar(raw.values) if isinstance(raw, Times) else raw.values[:, None]
    values = values if known.all() else values[known]
    weighted = values if s is None else values * s[known, None]
    return NumberSums(
        kind=raw.kind,
        n=n,
        missing=n - (len(values) * ONE if s is None else exact_sum(s[known])),
        totals=exact_columns(weighted),
        low=values.min(axis=0),
        high=values.max(axis=0),
        narrow=isinstance(raw, Numbers) and raw.narrow,
        boolean=isinstance(raw, Numbers) and raw.boolean,
        zone=raw.zone if isinstance(raw, Times) else None,
    )


def added_values(sums: ValueSums, more: ValueSums) -> ValueSums:
    """Return the sums over the rows of both, which must be of one kind."""
    if isinstance(sums, NothingSums):
        return sums + more if isinstance(more, NothingSums) else added_values(more, sums)
    if isinstance(more, NothingSums):
        n, missing = sums.n + more.n, sums.missing + more.n
        return replace(sums, n=n, missing=missing, words=sums.words + more.words)
    if sums.kind != more.kind:
        raise differ(sums.kind, more.kind)
    return sums + more


def differ(kind: str, other: str) -> ColumnError:
    """Say that rows of a column hold something else than those before them."""
    return ColumnError(f"holds {other}, rows before it {kind}; make it one type in all rows.")
