"""What a fitted encoder knows of each column, and how that turns values into numbers.

All of it is plain values in frozen classes, so that it can be stored beside a model. One rule
holds for whatever the fit has not seen: it takes the mean of the fit in each of its columns, which
a model that centres its inputs does not notice.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.calendar import PARTS, calendar
from elmband.sources.encode.checks import check_range, outside, warn_of_gaps
from elmband.sources.encode.notes import ColumnNote
from elmband.sources.encode.raw import Numbers, Raw, Times, Where, Words, at
from elmband.sources.encode.seen import read_as
from elmband.sources.encode.target import TargetLevels

OTHER, MISSING = "=other", "=missing"


@dataclass(frozen=True)
class NumberColumn:
    """Numbers: their value if it `varies`, and a mark for missing ones if the fit met such.

    They lay between `low` and `high`; models of earlier versions do not know. With `words`, text
    that is no number is missing, as a user said that the column holds numbers.
    """

    name: str
    kind: str
    mean: float
    varies: bool
    gaps: bool
    low: float = -np.inf
    high: float = np.inf
    words: bool = False

    @property
    def endings(self) -> tuple[str, ...]:
        """What follows the name of the column in the names of its features."""
        return ("",) * self.varies + (MISSING,) * self.gaps

    def work_out(self, raw: Raw) -> Array:
        """Return what the features of rows are written from: their values (n,)."""
        assert isinstance(raw, Numbers)
        return raw.values

    def write(self, values: Array, out: Array) -> None:
        """Write the features of some rows."""
        missing = np.isnan(values)
        if self.varies:
            check_range(values, out.dtype)
            out[:, 0] = values
            out[missing, 0] = self.mean
        if self.gaps:
            out[:, -1] = missing

    def unseen(self, raw: Raw) -> Array:
        """Tell which values are missing where there is no mark for them, (n,)."""
        return raw.missing & (not self.gaps)

    def beyond(self, raw: Raw) -> tuple[Array, Array]:
        """Tell which values lie outside the range of the fit, and which far outside, each (n,)."""
        assert isinstance(raw, Numbers)
        return outside(raw.values, self.low, self.high)


@dataclass(frozen=True)
class LevelsColumn:
    """Text, one-hot: a mark for each frequent level, for all others, and for missing values.

    `shares` are the parts of the rows of the fit that had each of the marks, and `seen` is the
    number of levels that the fit met, or so many at least. `rare` are those behind the mark for
    others where they are few: these tell little of one more, which has no mark then.
    """

    name: str
    levels: tuple[str, ...]
    other: bool
    gaps: bool
    shares: tuple[float, ...]
    seen: int
    categorical: bool
    rare: tuple[str, ...] = ()
    kind: ClassVar[str] = "text"

    @cached_property
    def endings(self) -> tuple[str, ...]:
        """What follows the name of the column in the names of its features."""
        # Levels that are called like the marks of other and missing ones are put in quotes.
        names = (f"={level}" for level in self.levels)
        quoted = (f"={name[1:]!r}" if name in {OTHER, MISSING} else name for name in names)
        return (*quoted, *(OTHER,) * self.other, *(MISSING,) * self.gaps)

    def places(self, raw: Words) -> Array:
        """Return which mark each row has, -1 for none: a level that the fit did not see."""
        known, new = self.known, self.new
        absent = len(self.shares) - 1 if self.gaps else new
        # The last one is found by the code -1.
        table = [known.get(level, new) for level in raw.levels] + [absent]
        return np.asarray(table)[raw.codes]

    @cached_property
    def known(self) -> dict[str, int]:
        """Which mark each level has that is known by name."""
        rare = dict.fromkeys(self.rare, len(self.levels))
        return rare | {level: place for place, level in enumerate(self.levels)}

    @property
    def new(self) -> int:
        """Which mark any other level has, -1 for none."""
        return len(self.levels) if self.other and not self.rare else -1

    def work_out(self, raw: Raw) -> Array:
        """Return the mark of every row; without levels, whether it is missing, (n,)."""
        assert isinstance(raw, Words)
        return self.places(raw) if self.levels else raw.missing

    def write(self, places: Array, out: Array) -> None:
        """Write the features of some rows."""
        if not self.levels:
            out[:, 0] = places
            return
        out[...] = 0
        out[np.arange(len(places)), places] = 1
        unseen = places < 0
        if unseen.any():
            out[unseen] = self.shares

    def unseen(self, raw: Raw) -> Array:
        """Tell which rows have none of the marks, (n,)."""
        assert isinstance(raw, Words)
        return (self.places(raw) < 0) & bool(self.levels)


@dataclass(frozen=True)
class TimeColumn:
    """Dates: those of their calendar numbers that vary, and a mark for missing ones.

    They lay between `low` and `high`, as years with a fraction. Text is read in a `format`, an
    empty one being that of dates which have a type in most files.
    """

    name: str
    kind: str
    zone: str | None
    parts: tuple[str, ...]
    means: tuple[float, ...]
    gaps: bool
    low: float = -np.inf
    high: float = np.inf
    format: str = ""

    @property
    def endings(self) -> tuple[str, ...]:
        """What follows the name of the column in the names of its features."""
        return (*(f"={part}" for part in self.parts), *(MISSING,) * self.gaps)

    def work_out(self, raw: Raw) -> Array:
        """Return all parts of the dates (n, 7), NaN where they are missing."""
        assert isinstance(raw, Times)
        return calendar(raw.values)

    def write(self, parts: Array, out: Array) -> None:
        """Write the features of some rows."""
        n_parts, missing = len(self.parts), np.isnan(parts[:, 0])
        if n_parts:
            out[:, :n_parts] = parts[:, [PARTS.index(part) for part in self.parts]]
            out[missing, :n_parts] = self.means
        if self.gaps:
            out[:, -1] = missing

    def unseen(self, raw: Raw) -> Array:
        """Tell which values are missing where there is no mark for them, (n,)."""
        return raw.missing & (not self.gaps)

    def beyond(self, raw: Raw) -> tuple[Array, Array]:
        """Tell which dates lie outside the range of the fit, and which far outside, each (n,)."""
        assert isinstance(raw, Times)
        return outside(calendar(raw.values)[:, PARTS.index("year")], self.low, self.high)


@dataclass(frozen=True)
class DroppedColumn:
    """A column of which nothing is left, and why."""

    name: str
    kind: str
    reason: str
    endings: ClassVar[tuple[str, ...]] = ()


UsedColumn: TypeAlias = NumberColumn | LevelsColumn | TimeColumn
EncodedColumn: TypeAlias = UsedColumn | DroppedColumn


@dataclass(frozen=True)
class EncoderState:
    """All that a fitted encoder knows.

    Attributes
    ----------
    columns : tuple
        One for each column of the table, in its order.
    named : bool
        Whether these columns had names; those of an array are found by their place.
    dtype : str
        Of the features.
    n_rows : float
        Rows of the fit, by weight.
    min_count : float
        Rows that a level must have had.
    target : TargetLevels or None
        The levels of a target that is text.
    parameters : dict
        Those of the encoder.
    notes : tuple of ColumnNote
        What people should know of columns; the same features may come with other notes.
    """

    columns: tuple[EncodedColumn, ...]
    named: bool
    dtype: str
    n_rows: float
    min_count: float
    target: TargetLevels | None
    parameters: dict[str, Any]
    notes: tuple[ColumnNote, ...] = field(default=(), compare=False)

    def __repr__(self) -> str:
        width = len(self.names)
        return f"EncoderState({len(self.columns)} columns to {width} features, {self.dtype})"

    @cached_property
    def used(self) -> tuple[UsedColumn, ...]:
        """The columns that features are made of."""
        return tuple(c for c in self.columns if not isinstance(c, DroppedColumn))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return self.names_from([column.name for column in self.columns])

    @property
    def one_hot(self) -> list[tuple[int, int]]:
        """Where the marks of each column of text begin and end among the features."""
        ends = np.cumsum([len(column.endings) for column in self.used]).tolist()
        return [
            (end - len(column.endings), end)
            for column, end in zip(self.used, ends, strict=True)
            if isinstance(column, LevelsColumn) and column.levels
        ]

    @property
    def text_columns(self) -> frozenset[str]:
        """Columns that are to be read as text from files that do not tell types."""
        return frozenset(
            column.name
            for column in self.used
            if isinstance(column, LevelsColumn)
            or (isinstance(column, TimeColumn) and column.format)
            or (isinstance(column, NumberColumn) and column.words)
        )

    def names_from(self, columns: list[str]) -> tuple[str, ...]:
        """Return names of features that begin with these names of columns; no two are equal."""
        count: dict[str, int] = {}
        names = []
        for name, column in zip(columns, self.columns, strict=True):
            for ending in column.endings:
                full = name + ending
                count[full] = count.get(full, 0) + 1
                names.append(full if count[full] == 1 else f"{full}#{count[full]}")
        return tuple(names)

    def encode(self, columns: Mapping[str, Any], where: Where, out: Array) -> None:
        """Write the features of some rows to `out`, (n, features)."""
        self.write(self.work_out(columns, where), where, out)

    def work_out(self, columns: Mapping[str, Any], where: Where) -> list[Array]:
        """Return what the features of rows are written from: an array for each used column."""
        found = []
        for column in self.used:
            with at(where, column.name):
                found.append(column.work_out(self.read(column, columns[column.name])))
        return found

    def write(
        self, parts: Sequence[Array], where: Where, out: Array, kept: Array | None = None
    ) -> None:
        """Write the features of rows from what was worked out of them.

        Of rows that will not be `kept`, as they have no target, nothing is said.
        """
        place = 0
        for column, part in zip(self.used, parts, strict=True):
            with at(where, column.name):
                column.write(part, out[:, place : place + len(column.endings)])
                if isinstance(column, NumberColumn) and column.varies and not column.gaps:
                    missing = np.isnan(part)
                    if (missing if kept is None else missing & kept).any():
                        warn_of_gaps(column.name)
            place += len(column.endings)

    @staticmethod
    def read(column: UsedColumn, values: Any) -> Raw:
        """Return values as what the fit has seen in their column."""
        if isinstance(column, TimeColumn):
            return read_as(values, column.kind, zone=column.zone, form=column.format)
        if isinstance(column, LevelsColumn):
            return read_as(values, column.kind, categorical=column.categorical)
        return read_as(values, column.kind, words=column.words)
