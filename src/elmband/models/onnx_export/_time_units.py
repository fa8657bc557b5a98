"""Dates in another unit than microseconds, where a number tells: their rows have no answer.

Of dates since 1900, a number of days, seconds or milliseconds is small: taken for microseconds it
is a moment within seven weeks of 1970. A number of nanoseconds is large, and lies before the year 1
or beyond 9999 unless its date is from 1968 to 1978. So a date is refused

- within seven weeks of 1970 but not at midnight, where all dates of the fit are more than a year
  away from 1970;
- before the year 1 and beyond 9999, where dates of Python end as well;

and a time of day is refused before midnight, from the next midnight on, and in the first 0.0864
seconds after midnight, where all numbers of seconds of a day are.
"""

from elmband.models.onnx_export._graph import BOOL, Tensor
from elmband.sources.encode.state import TimeColumn

_DAY = 86_400_000_000
# Days of the year 2100 since 1970, in milliseconds; seven weeks in microseconds are more.
_SMALL = 49 * _DAY
# From the year 1 to the end of 9999.
_FIRST, _END = -62_135_596_800_000_000, 253_402_300_800_000_000
_SECONDS = 86_400


def in_wrong_unit(times: Tensor, column: TimeColumn) -> Tensor:
    """Tell which times (n, 1), 0 where they are missing, cannot be microseconds."""
    if column.kind == "times of day":
        return _either(_outside(times, 0, _DAY), _inside(times, 1, _SECONDS))
    far = _outside(times, _FIRST, _END)
    # Models of earlier versions do not know their range, which is infinite.
    if column.low <= 1971 and column.high >= 1969:
        return far
    rest = times.apply("Mod", _DAY)
    between = rest.apply("Equal", 0, dtype=BOOL).apply("Not")
    small = _inside(times, -_SMALL, _SMALL).apply("And", between)
    return _either(far, small)


def _outside(times: Tensor, first: int, end: int) -> Tensor:
    return _either(times < first, times > end - 1)


def _inside(times: Tensor, first: int, end: int) -> Tensor:
    return (times > first - 1).apply("And", times < end)


def _either(one: Tensor, other: Tensor) -> Tensor:
    return one.apply("Or", other)
