"""What the fit of an encoder sums up of a column: small frozen values that add up."""

from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np

from elmband._arrays import Array
from elmband.encode.calendar import calendar
from elmband.encode.counts import LevelSums, count_levels
from elmband.encode.exact import ONE, exact_columns, exact_sum
from elmband.encode.raw import ColumnError, Nothing, Numbers, Raw, Times, Words
from elmband.moments import Moments


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
        )

    @property
    def means(self) -> tuple[float, ...]:
        """Mean of each part over the rows that have a value."""
        return tuple(total / (self.n - self.missing) for total in self.totals)


@dataclass(frozen=True, eq=False)
class NothingSums(Moments):
    """A number of rows without any value, by weight, as an exact sum."""

    n: int
    kind = "nothing"


ColumnSums: TypeAlias = NumberSums | LevelSums | NothingSums


def sum_column(raw: Raw, s: Array | None) -> ColumnSums:
    """Sum up some rows of a column, each counted as often as its weight above zero says."""
    if isinstance(raw, Words):
        return count_levels(raw, s)
    n = len(raw.missing) * ONE if s is None else exact_sum(s)
    if isinstance(raw, Nothing):
        return NothingSums(n)
    known = ~raw.missing
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


def added(sums: ColumnSums | None, more: ColumnSums) -> ColumnSums:
    """Return the sums over the rows of both, which must be of one kind."""
    if sums is None:
        return more
    if isinstance(sums, NothingSums):
        return sums + more if isinstance(more, NothingSums) else _with_nothing(more, sums)
    if isinstance(more, NothingSums):
        return _with_nothing(sums, more)
    if sums.kind != more.kind:
        raise ColumnError(
            f"holds {more.kind}, rows before it {sums.kind}; make it one type in all rows."
        )
    return sums + more  # type: ignore[operator]


def _with_nothing(sums: NumberSums | LevelSums, more: NothingSums) -> ColumnSums:
    if isinstance(sums, LevelSums):
        # Levels are counted in floats, the others in exact sums.
        n = more.n / ONE
        return replace(sums, n=sums.n + n, missing=sums.missing + n)
    return replace(sums, n=sums.n + more.n, missing=sums.missing + more.n)
