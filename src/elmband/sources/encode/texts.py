"""Sums of a column of any kind, and of text, which may be numbers or dates: the last row tells."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self, TypeAlias

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.counts import LevelSums, count_levels
from elmband.sources.encode.dates import AUTOMATIC, TIME, ZONE, read_dates
from elmband.sources.encode.raw import ColumnError, Numbers, Raw, Times, Words
from elmband.sources.encode.value_sums import (
    ONE,
    NothingSums,
    ValueSums,
    added_values,
    differ,
    sum_values,
    weight_of,
)
from elmband.sources.encode.written import Place, Strays, quoted, read_numbers, strays
from elmband.sums.moments import Moments

TYPED = {"dates": "iso", "dates with a time zone": "iso" + ZONE, "times of day": TIME}
"""Which of the formats of text are those of dates that have a type."""


@dataclass(frozen=True, eq=False)
class WrittenSums(Moments):
    """What text is as numbers.

    Attributes
    ----------
    n, marks : int
        Rows that hold a number, and a mark of its absence.
    words : Strays
        Rows that hold neither.
    values : NumberSums or NothingSums
        Sums of the numbers; all else is missing.
    """

    n: int
    marks: int
    words: Strays
    values: ValueSums

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.n + other.n,
            self.marks + other.marks,
            self.words + other.words,
            added_values(self.values, other.values),
        )

    def with_nothing(self, more: NothingSums) -> Self:
        """Return the same with more rows without a value."""
        return replace(self, values=added_values(self.values, more))


@dataclass(frozen=True, eq=False)
class DateSums(Moments):
    """What text is as dates.

    Attributes
    ----------
    n : int
        Rows that hold a date in any of the formats looked for.
    others : Strays
        Rows that do not, but for marks of absence.
    formats : mapping from str to sums
        Sums of the parts of dates, by the formats that all rows have.
    """

    n: int
    others: Strays
    formats: Mapping[str, ValueSums]
    kind = "dates in text"

    def __add__(self, other: Self) -> Self:
        both = (name for name in self.formats if name in other.formats)
        formats = {n: added_values(self.formats[n], other.formats[n]) for n in both}
        return type(self)(self.n + other.n, self.others + other.others, formats)

    def with_nothing(self, more: NothingSums) -> Self:
        """Return the same with more rows without a value."""
        formats = {name: added_values(sums, more) for name, sums in self.formats.items()}
        return replace(self, formats=formats)

    def joined(self, sums: ValueSums) -> ValueSums | None:
        """Return the sums of dates that have a type and of these, None where they differ."""
        own = self.formats.get(TYPED.get(sums.kind, ""))
        return None if own is None or self.others.n else added_values(sums, own)


@dataclass(frozen=True, eq=False)
class TextSums(Moments):
    """Counts of levels, and what they are as numbers and as dates.

    Where somebody made categories of them, only the levels are known.
    """

    levels: LevelSums
    written: WrittenSums | None = None
    dates: DateSums | None = None
    kind = "text"

    def __add__(self, other: Self) -> Self:
        levels = self.levels + other.levels
        if self.written is None or other.written is None:
            return type(self)(levels)
        assert self.dates is not None
        assert other.dates is not None
        return type(self)(levels, self.written + other.written, self.dates + other.dates)

    def with_nothing(self, more: NothingSums) -> Self:
        """Return the same with more rows without a value."""
        # Levels are counted in floats, the others in exact sums.
        n, levels = more.n / ONE, self.levels
        levels = replace(levels, n=levels.n + n, missing=levels.missing + n)
        if self.written is None or self.dates is None:
            return replace(self, levels=levels)
        written, dates = self.written.with_nothing(more), self.dates.with_nothing(more)
        return type(self)(levels, written, dates)

    def joined(self, sums: ValueSums) -> ValueSums | None:
        """Return the sums of numbers or dates and of text that is such; None where it is not."""
        if self.written is None or self.dates is None:
            return None
        if sums.kind != "numbers":
            return self.dates.joined(sums)
        return None if self.written.words.n else added_values(sums, self.written.values)


def sum_text(words: Words, s: Array | None, place: Place) -> TextSums:
    """Sum up some rows of text, each counted as often as its weight above zero says."""
    levels = count_levels(words, s)
    if words.chosen:
        return TextSums(levels)
    words = _used(words)
    return TextSums(levels, _written(words, s, place), sum_dates(words, s, place, AUTOMATIC))


def sum_numbers(words: Words, s: Array | None, place: Place) -> ValueSums:
    """Sum up text that is to be numbers: all else is missing."""
    written = _written(_used(words), s, place)
    return replace(written.values, words=written.words)


def sum_dates(
    words: Words, s: Array | None, place: Place, names: Collection[str], *, strict: bool = False
) -> DateSums:
    """Sum up text as dates of some formats; if `strict`, refuse all else but marks of absence."""
    words = _used(words)
    found = read_dates(words.levels, names, careful=names is AUTOMATIC)
    absent = read_numbers(words.levels)[1]
    read = np.array([~np.isnat(times) for times in found.values()]).reshape(-1, len(absent))
    others = strays(words, ~absent & ~read.any(axis=0), place)
    if strict and others.n:
        _, row, value = others.first[0]
        row = int(np.flatnonzero(place.rows == row)[0])
        raise ColumnError(f"holds {quoted(value)}, which is not a date; mend it, or empty it.", row)
    n = int(np.count_nonzero(np.append(read.any(axis=0), False)[words.codes]))
    if not n and not others.n:
        # Marks of absence only, which fit every format.
        nothing = NothingSums(weight_of(len(words.codes), s))
        return DateSums(0, others, dict.fromkeys(names, nothing))
    fitting = {name: times for name, times in found.items() if (absent | ~np.isnat(times)).all()}
    sums = {name: sum_values(times_of(words, name, t), s) for name, t in fitting.items()}
    return DateSums(n, others, sums)


def times_of(words: Words, name: str, times: Array) -> Times:
    """Return the dates of all rows by those of the levels, in a format."""
    times = np.append(times, np.datetime64("NaT"))[words.codes]
    return Times(times, "UTC" if name.endswith(ZONE) else None, of_day=name == TIME)


def _written(words: Words, s: Array | None, place: Place) -> WrittenSums:
    values, absent = read_numbers(words.levels)
    rows = np.append(values, np.nan)[words.codes]
    marks = int(np.count_nonzero(np.append(absent, False)[words.codes]))
    strange = strays(words, np.isnan(values) & ~absent, place)
    n = int(np.count_nonzero(~np.isnan(rows)))
    return WrittenSums(n, marks, strange, sum_values(Numbers(rows), s))


def _used(words: Words) -> Words:
    """Return text without the levels that no row has."""
    used = np.bincount(words.codes + 1, minlength=len(words.levels) + 1)[1:] > 0
    if used.all():
        return words
    places = np.append(np.cumsum(used) - 1, -1)
    levels = [level for level, there in zip(words.levels, used, strict=True) if there]
    return replace(words, codes=places[words.codes], levels=levels)


ColumnSums: TypeAlias = ValueSums | TextSums | DateSums


def sum_column(raw: Raw, s: Array | None, place: Place) -> ColumnSums:
    """Sum up some rows of a column, each counted as often as its weight above zero says."""
    return sum_text(raw, s, place) if isinstance(raw, Words) else sum_values(raw, s)


def added(sums: ColumnSums | None, more: ColumnSums) -> ColumnSums:
    """Return the sums over the rows of both, which must be of one kind, or text that is."""
    if sums is None:
        return more
    one, other = (sums, more) if isinstance(sums, TextSums | DateSums) else (more, sums)
    if isinstance(one, TextSums | DateSums):
        if isinstance(other, NothingSums):
            return one.with_nothing(other)
        if type(one) is type(other):
            return one + other  # type: ignore[operator]
        found = None if isinstance(other, TextSums | DateSums) else one.joined(other)
        if found is None:
            raise differ(sums.kind, more.kind)
        return found
    assert not isinstance(sums, TextSums | DateSums)
    assert not isinstance(more, TextSums | DateSums)
    return added_values(sums, more)
