"""Values read as what a fit has seen in their column, whatever they are stored as."""

from typing import Any

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.dates import read_dates
from elmband.sources.encode.raw import ColumnError, Nothing, Numbers, Raw, Times, Words
from elmband.sources.encode.read import read_column
from elmband.sources.encode.texts import TYPED, times_of
from elmband.sources.encode.words import as_words
from elmband.sources.encode.written import Place, as_numbers, quoted, read_numbers, strays


def read_as(
    values: Any,
    kind: str,
    *,
    categorical: bool = False,
    words: bool = False,
    zone: str | None = None,
    form: str = "",
) -> Raw:
    """Return a column as what it was in the fit; missing values only are of any kind.

    Parameters
    ----------
    values : array (n,) or column of a table
        As they are.
    kind : str
        What the column held.
    categorical : bool
        Whether numbers are names of categories.
    words : bool
        Whether text among numbers is missing.
    zone : str or None
        The time zone of dates.
    form : str
        The format of dates as text.
    """
    # Text among objects is refused by its row, or missing.
    raw = read_column(values, categorical=categorical, mixed=kind == "numbers", zone=zone)
    if form and isinstance(raw, Numbers) and raw.kind == "numbers":
        raw = as_words(raw)
    if isinstance(raw, Words) and kind == "numbers":
        return as_numbers(raw, lenient=words)
    if isinstance(raw, Words) and kind in TYPED:
        return _as_times(raw, form or TYPED[kind], zone)
    if raw.kind == kind:
        return raw
    if not isinstance(raw, Nothing):
        raise ColumnError(f"holds {raw.kind}, the encoder was fitted on {kind}; convert it.")
    return _nothing(raw.n, kind)


def _as_times(words: Words, form: str, zone: str | None) -> Times:
    """Return text as dates of a format."""
    if zone not in {None, "UTC"}:
        raise ColumnError(f"holds text, the encoder was fitted on dates of {zone}; convert it.")
    found = read_dates(words.levels, [form])
    times: Array = found[form] if form in found else _none(len(words.levels))
    strange = np.isnat(times) & ~read_numbers(words.levels)[1]
    others = strays(words, strange, Place("", np.arange(len(words.codes))))
    if others.n:
        _, row, value = others.first[0]
        raise ColumnError(
            f"holds {quoted(value)}, which is not a date as those that the encoder was fitted on; "
            "write it as these, or make it empty.",
            row,
        )
    return times_of(words, form, times)


def _nothing(n: int, kind: str) -> Raw:
    if kind == "text":
        return Words(np.full(n, -1), [])
    if kind in {"numbers", "durations"}:
        return Numbers(np.full(n, np.nan), kind=kind)
    return Times(_none(n))


def _none(n: int) -> Array:
    return np.full(n, "NaT", dtype="M8[us]")
