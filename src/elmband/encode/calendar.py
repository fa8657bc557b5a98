"""Dates as numbers that a model can use."""

import numpy as np

from elmband._arrays import Array

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


def calendar(times: Array) -> Array:
    """Return the parts of dates (n,), datetime64[us], as float64 (n, 7); all NaN for NaT.

    The year goes on between its days: noon on 2 July 2001 is 2001.5, so that a trend is a straight
    line. What comes back is an angle, as its sine and cosine: the day of the year, the day of the
    week and the time of day. December is next to January then, a linear neuron holds a wave,
    and a tanh neuron any stretch of the circle.
    """
    known = ~np.isnat(times)
    out = np.full((len(times), len(PARTS)), np.nan)
    out[known] = _known(times if known.all() else times[known])
    return out


def _known(times: Array) -> Array:
    years, days = times.astype("M8[Y]"), times.astype("M8[D]")
    start, end = years.astype("M8[us]"), (years + _YEAR).astype("M8[us]")
    weekday = (days.astype(np.int64) + 3) % 7
    hours = (times - days) / _DAY
    parts = [years.astype(np.int64) + 1970 + (times - start) / (end - start)]
    season = 2 * np.pi * ((days - start) / (end - start))
    for angles in (season, _WEEK[weekday], 2 * np.pi * hours):
        parts += [np.sin(angles), np.cos(angles)]
    return np.stack(parts, axis=1)
