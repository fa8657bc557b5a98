"""Dates as numbers that a model can use."""

import numpy as np

from elmband.ground.arrays import Array

PARTS = (
    "year",
    "season_sin",
    "season_cos",
    "weekday_sin",
    "weekday_cos",
    "hour_sin",
    "hour_cos",
)
"""What a date is made into, in this order."""

_DAY = np.timedelta64(86_400_000_000, "us")
_YEAR = np.timedelta64(1, "Y")
_WEEK = 2 * np.pi * np.arange(7) / 7
_MINUTE, _MINUTES = np.timedelta64(60_000_000, "us"), 1440
# Days between the first and the last up to which all of them are worked out once.
_MOST_DAYS = 100_000


def calendar(times: Array) -> Array:
    """Return the parts of dates (n,), datetime64[us], as float64 (n, 7); all NaN for NaT.

    The year goes on between its days: noon on 2 July 2001 is 2001.5, so that a trend is a straight
    line. What comes back is an angle, as its sine and cosine: the day of the year, the day of the
    week and the time of day. December is next to January then, a linear neuron holds a wave,
    and a tanh neuron any stretch of the circle.
    """
    known = ~np.isnat(times)
    if known.all():
        return _known(times)
    out = np.full((len(times), len(PARTS)), np.nan)
    out[known] = _known(times[known])
    return out


def _known(times: Array) -> Array:
    out = np.empty((len(times), len(PARTS)))
    days = times.astype("M8[D]")
    year, start, length, angles = _of_days(days)
    out[:, 0] = year + (times - start) / length
    out[:, 1:5] = angles
    out[:, 5:] = _of_hours(times - days)
    return out


def _of_days(days: Array) -> tuple[Array, Array, Array, Array]:
    """Return for days (n,) their year, its start and length, and the angles within it and a week.

    Rows that lie close together have the same few days, each of which is worked out once.
    """
    number = days.astype(np.int64)
    low, high = (int(number.min()), int(number.max())) if len(number) else (0, 0)
    if high - low >= min(len(number), _MOST_DAYS):
        return _parts_of_days(days)
    found = _parts_of_days(np.arange(low, high + 1).astype("M8[D]"))
    year, start, length, angles = (np.take(part, number - low, axis=0) for part in found)
    return year, start, length, angles


def _parts_of_days(days: Array) -> tuple[Array, Array, Array, Array]:
    years = days.astype("M8[Y]")
    start, end = years.astype("M8[us]"), (years + _YEAR).astype("M8[us]")
    season = 2 * np.pi * ((days - start) / (end - start))
    week = _WEEK[(days.astype(np.int64) + 3) % 7]
    return years.astype(np.int64) + 1970, start, end - start, _on_circle(season, week)


def _of_hours(since_midnight: Array) -> Array:
    """Return the angle of the time of day; where all are whole minutes, each of these once."""
    minutes = since_midnight // _MINUTE
    if len(minutes) < _MINUTES or (minutes * _MINUTE != since_midnight).any():
        return _on_circle(2 * np.pi * (since_midnight / _DAY))
    known = _on_circle(2 * np.pi * (np.arange(_MINUTES) * _MINUTE / _DAY))
    found: Array = np.take(known, minutes, axis=0)
    return found


def _on_circle(*angles: Array) -> Array:
    return np.stack([part for a in angles for part in (np.sin(a), np.cos(a))], axis=1)
