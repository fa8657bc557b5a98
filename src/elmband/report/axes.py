"""Columns as people know them: axes that a report splits rows along, made of encoded features.

A model sees text as one-hot marks and dates as sines and cosines. Here marks are words again, and
angles are hours, weekdays and days of the year.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any, ClassVar, Self

import numpy as np

from elmband.ground.arrays import Floats
from elmband.ground.wording import span
from elmband.sources.encode.state import EncoderState, LevelsColumn, NumberColumn, TimeColumn

# Words with a bin of their own, and one for all others.
MOST_WORDS = 10
_WEEK = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MISSING = "missing"
_UNSEEN = "not seen in training"
_REST = "all others"


@dataclass(frozen=True, eq=False)
class Axis(ABC):
    """A column, by the places of the features that were made of it."""

    name: str
    places: tuple[int, ...]

    # Whether values are numbers in the units of the column.
    is_number: ClassVar[bool] = False

    @property
    def may_miss(self) -> bool:
        """Whether values may be missing, which are NaN then."""
        return False

    @abstractmethod
    def values(self, X: Any) -> Floats:
        """Return a number for every row, (n,)."""

    def prepared(self, values: Floats) -> "Axis":
        """Return the axis as it is best cut into bins, by a sample of its values."""
        del values
        return self

    def label(self, low: float, high: float) -> str:
        """Write the values that a bin spans."""
        return MISSING if math.isnan(low) else span(low, high)

    def groups(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the value of every row as people know it."""
        return self.values(X)


class NumberAxis(Axis):
    """Numbers as they are; a second feature, where there is one, marks those that are missing."""

    is_number = True

    @property
    def may_miss(self) -> bool:
        """Whether there is such a mark."""
        return len(self.places) > 1

    def values(self, X: Any) -> Floats:
        """Return the feature, NaN where it is missing."""
        values = np.asarray(X[:, self.places[0]], dtype=np.float64)
        if self.may_miss:
            values = np.where(np.asarray(X[:, self.places[1]]) > 0.5, np.nan, values)
        return values


class WrittenAxis(Axis):
    """Values that people know by a name: of a day, of an hour."""

    @abstractmethod
    def written(self, value: float) -> str:
        """Write a value."""

    def label(self, low: float, high: float) -> str:
        """Write the values that a bin spans."""
        first, last = self.written(low), self.written(high)
        return first if first == last else f"{first} to {last}"

    def groups(self, X: Any) -> np.ndarray[Any, Any]:
        """Return all values as they are written."""
        found, place = np.unique(self.values(X), return_inverse=True)
        return np.asarray(np.asarray([self.written(value) for value in found])[place.reshape(-1)])


@dataclass(frozen=True, eq=False)
class DayAxis(WrittenAxis, NumberAxis):
    """Days, from years with a fraction, which goes on within a day where there is a `clock`."""

    clock: bool = False

    def written(self, value: float) -> str:
        """Write the date of a year with a fraction, which may have been rounded to float32."""
        part = 3e-4 if self.clock else 0.5
        year = math.floor(value)
        days = (date(year + 1, 1, 1) - date(year, 1, 1)).days
        day = date(year, 1, 1) + timedelta(days=min(int((value - year) * days + part), days - 1))
        return f"{day.day} {day:%b} {day.year}"


class CycleAxis(WrittenAxis):
    """A quantity that repeats after `period` steps, such as the hour, from its sine and cosine."""

    period: float

    def values(self, X: Any) -> Floats:
        """Return the place on the circle, from its angle, to a thousandth of a step."""
        sine, cosine = (np.asarray(X[:, place], dtype=np.float64) for place in self.places)
        turn = np.arctan2(sine, cosine) / (2 * np.pi) * self.period
        # Rounding in float32 may give an angle just below 0: that is place 0, not a full turn.
        return np.asarray(np.round(turn, 3) % self.period)


class WeekAxis(CycleAxis):
    """Days of the week, from Monday on."""

    period = 7

    def values(self, X: Any) -> Floats:
        """Return whole days."""
        return np.asarray(np.round(super().values(X)) % self.period)

    def written(self, value: float) -> str:
        """Return the name of a day."""
        return _WEEK[int(value)]


class ClockAxis(CycleAxis):
    """Hours of the day."""

    period = 24

    def written(self, value: float) -> str:
        """Write a time to the minute."""
        minutes = round(60 * value)
        return f"{minutes // 60:02d}:{minutes % 60:02d}"


class YearAxis(CycleAxis):
    """Days of a year, of which the first has the number 0."""

    period = 365

    def written(self, value: float) -> str:
        """Write a date without its year."""
        day = date(2001, 1, 1) + timedelta(days=round(value) % 365)
        return f"{day.day} {day:%b}"


@dataclass(frozen=True, eq=False)
class WordsAxis(Axis):
    """Words, one-hot encoded; the last one stands for words without a mark.

    `order` is the bin of every word, and `names` are those of the bins.
    """

    words: tuple[str, ...]
    order: tuple[int, ...]
    names: tuple[str, ...]

    @classmethod
    def of(cls, name: str, places: Sequence[int], words: Sequence[str]) -> Self:
        """Let every word have its bin."""
        known = (*words, _UNSEEN)
        return cls(name, tuple(places), known, tuple(range(len(known))), known)

    def values(self, X: Any) -> Floats:
        """Return the bin of every row."""
        bins: Floats = np.asarray(self.order, dtype=np.float64)
        return np.asarray(bins[self._codes(X)])

    def _codes(self, X: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        marks = X[:, list(self.places)]
        return np.where(marks.max(axis=1) == 1, np.argmax(marks, axis=1), len(self.words) - 1)

    def prepared(self, values: Floats) -> Axis:
        """Put the words with most rows first, and the many others together."""
        counts = np.bincount(values.astype(np.int64), minlength=len(self.words))
        if np.count_nonzero(counts) <= MOST_WORDS:
            return self
        kept = np.argsort(-counts, kind="stable")[: MOST_WORDS - 1].tolist()
        order = tuple(
            kept.index(code) if code in kept else len(kept) for code in range(len(self.words))
        )
        return replace(self, order=order, names=(*(self.words[code] for code in kept), _REST))

    def label(self, low: float, high: float) -> str:
        """Return the word of a bin, which has no other."""
        del high
        return self.names[int(low)]

    def groups(self, X: Any) -> np.ndarray[Any, Any]:
        """Return the words of all rows."""
        return np.asarray(np.asarray(self.words)[self._codes(X)])


@dataclass(frozen=True, eq=False)
class MarkAxis(WordsAxis):
    """A single mark of 0 or 1, such as that a value is missing."""

    def _codes(self, X: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        return np.asarray(X[:, self.places[0]] > 0.5, dtype=np.int64)


def axes_of(names: Sequence[str], state: EncoderState | None) -> tuple[Axis, ...]:
    """Return the axes of a model: the columns of its encoder, or its features as they are."""
    if state is None or len(state.names) != len(names):
        return tuple(NumberAxis(name, (place,)) for place, name in enumerate(names))
    return tuple(_encoded(state))


def _encoded(state: EncoderState) -> Iterator[Axis]:
    place = 0
    for column in state.used:
        places = range(place, place + len(column.endings))
        place += len(column.endings)
        gaps = column.gaps
        if isinstance(column, NumberColumn) and column.varies:
            yield NumberAxis(column.name, (places[0], places[-1]) if gaps else (places[0],))
            gaps = False
        elif isinstance(column, TimeColumn):
            yield from _of_dates(column, dict(zip(column.parts, places, strict=False)))
        elif isinstance(column, LevelsColumn) and column.levels:
            words = (*column.levels, *("other",) * column.other, *(MISSING,) * gaps)
            yield WordsAxis.of(column.name, places, words)
            gaps = False
        if gaps:
            both = ("known", "missing")
            yield MarkAxis(f"{column.name} missing", (places[-1],), both, (0, 1), both)


def _of_dates(column: TimeColumn, places: dict[str, int]) -> Iterator[Axis]:
    name = column.name
    if "year" in places:
        yield DayAxis(name, (places["year"],), clock="hour_sin" in places)
    cycles: dict[str, type[YearAxis | WeekAxis | ClockAxis]]
    cycles = {"season": YearAxis, "weekday": WeekAxis, "hour": ClockAxis}
    words = {"season": "day of the year", "weekday": "weekday", "hour": "time of day"}
    for part, kind in cycles.items():
        pair = (f"{part}_sin", f"{part}_cos")
        if all(end in places for end in pair):
            yield kind(f"{name}: {words[part]}", (places[pair[0]], places[pair[1]]))
