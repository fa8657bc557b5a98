"""Columns of NumPy, pandas, Polars or Arrow, read as what they hold."""

import re
from dataclasses import replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.objects import read_objects
from elmband.sources.encode.raw import ColumnError, Nothing, Numbers, PlainText, Raw, Times, Words
from elmband.sources.encode.words import as_words, read_words

_NARROW = (nw.Boolean, nw.Int8, nw.Int16, nw.UInt8, nw.UInt16, nw.Float32)


def read_column(
    column: Any, *, categorical: bool = False, mixed: bool = False, zone: str | None = None
) -> Raw:
    """Return a column as plain arrays.

    Parameters
    ----------
    column : array (n,) or column of a table
        One row at least.
    categorical : bool, default=False
        Whether numbers are names of categories.
    mixed : bool, default=False
        Whether objects may be numbers and text, which all become text.
    zone : str, default=None
        The time zone to which dates that have one are converted; their own by default.
    """
    plain = isinstance(column, PlainText)
    column = column.values if plain else column
    if isinstance(column, np.ndarray):
        raw = _of_array(column, mixed=categorical or mixed)
    else:
        raw = _of_series(nw.from_native(column, series_only=True), zone, mixed=categorical or mixed)
    if plain and isinstance(raw, Words):
        raw = replace(raw, chosen=False)
    missing = raw.missing
    if missing.all():
        return Nothing(len(missing))
    if isinstance(raw, Numbers):
        _check_finite(raw.values)
    return as_words(raw) if categorical else raw


def _of_array(array: Array, *, mixed: bool) -> Raw:
    kind = array.dtype.kind
    if kind in "biuf":
        narrow = np.can_cast(array.dtype, np.float32)
        return Numbers(array.astype(np.float64, copy=False), narrow=narrow, boolean=kind == "b")
    if kind == "M":
        return Times(array.astype("M8[us]"))
    if kind == "m":
        return Numbers(array / np.timedelta64(1, "s"), kind="durations")
    if kind in "OUT":
        return read_objects(array.astype(object), mixed=mixed)
    raise ColumnError(f"is of type {array.dtype}, which cannot be encoded; leave it out.")


def _of_series(series: nw.Series[Any], zone: str | None, *, mixed: bool) -> Raw:
    dtype = series.dtype
    if dtype.is_numeric() or dtype == nw.Boolean:
        return _numbers(series)
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        return read_words(series)
    if isinstance(dtype, nw.Datetime | nw.Date) or _pandas_zone(series) is not None:
        return _times(series, zone)
    if dtype == nw.Time:
        return _times_of_day(series)
    if series.null_count() == len(series):
        return Nothing(len(series))
    if isinstance(dtype, nw.Duration | nw.Object | nw.Unknown):
        return _of_array(np.asarray(series.to_numpy()), mixed=mixed)
    raise ColumnError(f"is of type {dtype}, which cannot be encoded; leave it out.")


def _numbers(series: nw.Series[Any]) -> Numbers:
    boolean = series.dtype == nw.Boolean
    array = (series.cast(nw.Int8) if boolean else series).to_numpy()
    if array.dtype.kind not in "iuf":
        array = series.cast(nw.Float64).to_numpy()
    return Numbers(array.astype(np.float64, copy=False), series.dtype in _NARROW, boolean)


def _times(series: nw.Series[Any], zone: str | None) -> Times:
    if series.dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    own = _pandas_zone(series) or getattr(series.dtype, "time_zone", None)
    if own is None:
        return Times(series.to_numpy().astype("M8[us]"))
    zone = own if zone is None else zone
    try:
        clocks = _on_clocks(series, zone)
    except Exception as error:
        raise ColumnError(
            f"holds dates in the time zone {own}, which cannot be converted to {zone}: {error}."
        ) from error
    return Times(np.asarray(clocks).astype("M8[us]"), zone)


def _on_clocks(series: nw.Series[Any], zone: str) -> Any:
    if series.implementation.is_pandas_like():
        # Columns of Arrow within older versions of pandas lose the clocks of their zone.
        column = series.to_native().astype("datetime64[us, UTC]")
        return column.dt.tz_convert(zone).dt.tz_localize(None).to_numpy()
    return series.dt.convert_time_zone(zone).dt.replace_time_zone(None).to_numpy()


def _pandas_zone(series: nw.Series[Any]) -> str | None:
    """Return the time zone of dates of pandas; narwhals does not know those with an underscore."""
    if not series.implementation.is_pandas_like():
        return None
    dtype = series.to_native().dtype
    tz = getattr(getattr(dtype, "pyarrow_dtype", dtype), "tz", None)
    # Arrow writes an offset without these letters.
    return None if tz is None else re.sub(r"^UTC(?=[+-])", "", str(tz))


def _times_of_day(series: nw.Series[Any]) -> Raw:
    if series.implementation.is_pandas_like():
        return read_objects(np.asarray(series.to_list(), dtype=object))
    clock = series.dt
    parts = (clock.hour(), clock.minute(), clock.second())
    h, m, s = (part.cast(nw.Float64).to_numpy() for part in parts)
    times = np.full(len(h), "NaT", dtype="M8[us]")
    known = ~np.isnan(h)
    times[known] = (3600 * h + 60 * m + s)[known].astype("M8[s]")
    return Times(times, of_day=True)


def _check_finite(values: Array) -> None:
    rows = np.flatnonzero(np.isinf(values)).tolist()
    if len(rows) == 1:
        raise ColumnError("holds 1 infinite value; mend it, or make it missing.", rows[0])
    if rows:
        raise ColumnError(f"holds {len(rows)} infinite values; mend them, or make them missing.")
