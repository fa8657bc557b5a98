"""Columns as they are in a table, each as one of a few kinds of plain arrays."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from elmband.ground.arrays import Array


class ColumnError(ValueError):
    """What is wrong with a column, in words that follow its name, and in which row if in one."""

    def __init__(self, reason: str, row: int | None = None) -> None:
        super().__init__(reason)
        self.row = row


class Where(NamedTuple):
    """Rows of a file or of a table, for sentences."""

    label: str
    first: int
    n_rows: int

    def __str__(self) -> str:
        if self.n_rows == 1:
            return f"{self.label}, row {self.first}"
        return f"{self.label}, rows {self.first} to {self.first + self.n_rows - 1}"


class PlacedError(ValueError):
    """What is wrong with a column of some rows; whoever knows better where they are can say so."""

    def __init__(self, where: Where, name: str, reason: str) -> None:
        # All three, or it could not be sent from one process to another.
        super().__init__(where, name, reason)
        self.where, self.name, self.reason = where, name, reason

    def __str__(self) -> str:
        return f"{self.where}: column {self.name!r} {self.reason}"


@contextmanager
def at(where: Where, name: str) -> Iterator[None]:
    """Say of which rows and of which column an error speaks."""
    try:
        yield
    except ColumnError as error:
        if error.row is not None:
            where = Where(where.label, where.first + error.row, 1)
        raise PlacedError(where, name, str(error)) from error


@dataclass(frozen=True, eq=False)
class Numbers:
    """Numbers, NaN where they are missing; float32 holds them all if they are `narrow`.

    The `kind` is numbers or durations, which are in seconds.
    """

    values: Array
    narrow: bool = False
    boolean: bool = False
    kind: str = "numbers"

    @property
    def missing(self) -> Array:
        """Whether each value is missing."""
        return np.isnan(self.values)


@dataclass(frozen=True, eq=False)
class Words:
    """Text: the place of each value among `levels`, -1 where it is missing.

    Where somebody made categories of it, by the type of the column, these were `chosen`.
    """

    codes: Array
    levels: list[str]
    chosen: bool = False
    kind = "text"

    @property
    def missing(self) -> Array:
        """Whether each value is missing."""
        return self.codes < 0


@dataclass(frozen=True, eq=False)
class Times:
    """Dates on the clocks of `zone`, as datetime64[us], NaT where they are missing.

    The `kind` is dates or times of day; the latter are on the first day of 1970.
    """

    values: Array
    zone: str | None = None
    of_day: bool = False

    @property
    def kind(self) -> str:
        """Words for what they are."""
        if self.of_day:
            return "times of day"
        return "dates" if self.zone is None else "dates with a time zone"

    @property
    def missing(self) -> Array:
        """Whether each value is missing."""
        return np.isnat(self.values)


@dataclass(frozen=True, eq=False)
class Nothing:
    """Missing values only, which fit every kind of column."""

    n: int
    kind = "nothing"

    @property
    def missing(self) -> Array:
        """Whether each value is missing."""
        return np.ones(self.n, dtype=bool)


@dataclass(frozen=True, eq=False)
class PlainText:
    """A column of text as a file without types has it: how it is stored says nothing."""

    values: Any


Raw: TypeAlias = Numbers | Words | Times | Nothing


class RawRows(NamedTuple):
    """Consecutive rows of a table: columns by name, and the target and weights where known.

    Columns are NumPy arrays or columns of a library of tables, not yet looked at. Those that are
    not `named` are called x0, x1, ...
    """

    where: Where
    columns: Mapping[str, Any]
    target: Raw | None = None
    target_name: str = ""
    s: Array | None = None
    named: bool = True


def only(raw: Raw, keep: Array) -> Raw:
    """Return the rows of a column that are marked by True."""
    if raw.missing[keep].all():
        return Nothing(int(np.count_nonzero(keep)))
    if isinstance(raw, Words):
        return replace(raw, codes=raw.codes[keep])
    assert not isinstance(raw, Nothing)
    return replace(raw, values=raw.values[keep])
