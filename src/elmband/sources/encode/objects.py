"""Columns of Python objects: text, numbers or dates, but not several of these."""

import datetime as dt
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import ColumnError, Nothing, Numbers, Raw, Times, Words
from elmband.sources.encode.words import label
from elmband.sources.encode.written import as_numbers, is_absent, is_number

# pandas has such values; it need not be there.
_ABSENT = {"NoneType", "NAType", "NaTType"}

_FAMILIES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("text", (str,)),
    ("numbers", (Real, Decimal, np.bool_)),
    ("dates", (dt.date, np.datetime64)),
    ("times of day", (dt.time,)),
    ("durations", (dt.timedelta, np.timedelta64)),
)


def read_objects(values: Array, *, mixed: bool = False) -> Raw:
    """Return objects as what all of them are; numbers and text as text where these may be `mixed`.

    Text that is a number, or a mark of its absence, is no more than that among numbers.
    """
    present = np.array([not _is_missing(value) for value in values], dtype=bool)
    found = {_family(value): value for value in values[present]}
    if not found:
        return Nothing(len(values))
    if found.keys() == {"numbers", "text"}:
        values = _as_text(values, present)
        if mixed or all(is_number(text) or is_absent(text) for text in values[present]):
            words = _words(values, present)
            return words if mixed else as_numbers(words)
    if len(found) > 1:
        (one, a), (other, b) = sorted(found.items())[:2]
        raise ColumnError(
            f"holds {one} and {other}, such as {_short(a)} and {_short(b)}; make them one type."
        )
    (family,) = found
    if family == "text":
        return _words(values, present)
    if family in {"numbers", "durations"}:
        return _numbers(values, present, family)
    return _times(values, present, of_day=family == "times of day")


def _is_missing(value: Any) -> bool:
    if isinstance(value, float):
        return value != value  # noqa: PLR0124 - only NaN is not itself
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return type(value).__name__ in _ABSENT


def _family(value: Any) -> str:
    for name, types in _FAMILIES:
        # A time span of NumPy counts as a number there.
        if isinstance(value, types) and not (
            name == "numbers" and isinstance(value, np.timedelta64)
        ):
            return name
    raise ColumnError(
        f"holds {type(value).__name__} objects, which have no place in a model; leave it out."
    )


def _as_text(values: Array, present: Array) -> Array:
    """Return numbers among text as text, which is read as the same numbers again."""
    texts = values.copy()
    for place in np.flatnonzero(present):
        if not isinstance(values[place], str):
            texts[place] = label(float(values[place]))
    return texts


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _words(values: Array, present: Array) -> Words:
    places: dict[str, int] = {}
    codes = np.full(len(values), -1)
    codes[present] = [places.setdefault(value, len(places)) for value in values[present]]
    return Words(codes, [str(level) for level in places])


def _numbers(values: Array, present: Array, family: str) -> Numbers:
    read = _seconds if family == "durations" else float
    numbers = np.full(len(values), np.nan)
    numbers[present] = [read(value) for value in values[present]]
    boolean = all(isinstance(value, bool | np.bool_) for value in values[present])
    return Numbers(numbers, narrow=boolean, boolean=boolean, kind=family)


def _seconds(value: Any) -> float:
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "s"))
    return float(value.total_seconds())


def _times(values: Array, present: Array, *, of_day: bool) -> Times:
    if any(getattr(value, "tzinfo", None) is not None for value in values[present]):
        raise ColumnError(
            "holds dates with time zones as objects; convert it, as with pandas.to_datetime."
        )
    if of_day:
        day = dt.date(1970, 1, 1)
        found = [dt.datetime.combine(day, value) for value in values[present]]
    else:
        found = list(values[present])
    times = np.full(len(values), "NaT", dtype="M8[us]")
    times[present] = [np.datetime64(value, "us") for value in found]
    return Times(times, of_day=of_day)
