"""Dates as numbers, by the arithmetic of whole numbers that graphs have."""

from typing import NamedTuple

import numpy as np

from elmband.models.onnx_export._graph import DOUBLE, Tensor, where
from elmband.sources.encode.calendar import PARTS

MISSING = np.iinfo(np.int64).min
"""How NumPy stores a date that is missing."""

_DAY = 86_400_000_000
# Days from 1 March of the year 0 to 1970, and of 400, 100, 4 years and 1 year that begin in March.
_EPOCH = 719_468
_ERA, _CENTURY, _OLYMPIAD, _YEAR = 146_097, 36_524, 1_460, 365
# 1 January is this day of a year that begins in March.
_JANUARY = 306


class _Year(NamedTuple):
    """A year, the day that it begins on, counted from 1970, and how many days it has."""

    number: Tensor
    start: Tensor
    days: Tensor


def calendar_parts(times: Tensor) -> dict[str, Tensor]:
    """Return the parts of times (n, 1), whole microseconds since 1970, as float64 by name.

    They are those of `elmband.sources.encode.calendar.calendar`.
    """
    day, moment = _floor(times, _DAY), _rest(times, _DAY)
    year = _year_of(day)
    since = (day - year.start) * _DAY + moment
    gone = since.to(DOUBLE) / (year.days * _DAY).to(DOUBLE)
    season = (day - year.start).to(DOUBLE) / year.days.to(DOUBLE)
    weekday = _rest(day + 3, 7).to(DOUBLE) / 7.0
    hour = moment.to(DOUBLE) / float(_DAY)
    waves = [wave for turn in (season, weekday, hour) for wave in _waves(turn)]
    return dict(zip(PARTS, [year.number.to(DOUBLE) + gone, *waves], strict=True))


def _waves(turn: Tensor) -> list[Tensor]:
    """Return sine and cosine of shares of a whole turn."""
    angle = turn * (2 * np.pi)
    # Not Cos: onnxruntime has it in float32 only.
    return [angle.apply("Sin"), (angle + np.pi / 2).apply("Sin")]


def _year_of(day: Tensor) -> _Year:
    """Return the year of days since 1970, in the calendar that is used today.

    A year that begins in March has its leap day at the end, so that the length of all that is
    before it is known by division; 400 years always have the same length.
    """
    shifted = day + _EPOCH
    era, within = _floor(shifted, _ERA), _rest(shifted, _ERA)
    leap = within / _OLYMPIAD - within / _CENTURY + within / (_ERA - 1)
    march = (within - leap) / _YEAR
    of_march = within - (march * _YEAR + march / 4 - march / 100)
    late = (of_march > _JANUARY - 1).to(day.dtype)
    number = march + era * 400 + late
    start, end = _first_day(number), _first_day(number + 1)
    return _Year(number, start, end - start)


def _first_day(year: Tensor) -> Tensor:
    """Return the day of 1 January, counted from 1970."""
    before = year - 1
    leap = _floor(before, 4) - _floor(before, 100) + _floor(before, 400)
    return before * _YEAR + leap - (1969 * _YEAR + 1969 // 4 - 1969 // 100 + 1969 // 400)


def _floor(values: Tensor, by: int) -> Tensor:
    """Divide whole numbers and round down; the operator rounds towards zero."""
    return (values - _rest(values, by)) / by


def _rest(values: Tensor, by: int) -> Tensor:
    """Return what is left of a division, never below zero."""
    return values.apply("Mod", by)


def known_times(times: Tensor) -> tuple[Tensor, Tensor]:
    """Return whether times are missing, and times with 1970 in place of those."""
    missing = times.apply("Equal", MISSING, dtype=np.dtype(np.bool_))
    return missing, where(missing, 0, times)
