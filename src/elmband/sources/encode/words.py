"""Text as numbers of levels, by the hash tables of the library that holds it."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import ColumnError, Nothing, Numbers, Raw, Words

# Whole numbers up to this one have all their digits in float64.
_WHOLE = 2.0**53


def read_words(series: nw.Series[Any]) -> Words:
    """Return a column of text or categories; levels that are not text become it."""
    chosen = not isinstance(series.dtype, nw.String)
    if series.implementation.is_pandas_like():
        codes, levels = series.to_native().factorize()
        return _words(np.asarray(codes), levels.tolist(), chosen)
    if series.implementation.is_pyarrow():
        return _words(*_of_arrow(series.to_native()), chosen)
    return _words(*_of_polars(series.cast(nw.String).to_native()), chosen)


def _of_arrow(column: Any) -> tuple[Array, list[Any]]:
    if not hasattr(column.type, "index_type"):
        column = column.dictionary_encode()
    whole = column.unify_dictionaries().combine_chunks()
    codes = whole.indices.cast("int64").fill_null(-1).to_numpy(zero_copy_only=False)
    levels = whole.dictionary
    if len(levels) > len(codes):
        # A slice of a long column has the dictionary of the whole.
        used, codes = np.unique(codes, return_inverse=True)
        absent = int(used[0] < 0)
        levels, codes = levels.take(used[absent:]), codes - absent
    return codes, levels.to_pylist()


def _of_polars(column: Any) -> tuple[Array, list[Any]]:
    levels = column.unique().drop_nulls()
    places = list(range(len(levels)))
    codes = column.replace_strict(levels, places, default=-1) if places else None
    missing = np.full(len(column), -1)
    return missing if codes is None else codes.to_numpy(), levels.to_list()


def _words(codes: Array, levels: list[Any], chosen: bool) -> Words:  # noqa: FBT001 - its own
    if None in levels:
        codes = np.where(codes == levels.index(None), -1, codes)
    return Words(codes, [str(level) for level in levels], chosen)


def as_words(raw: Raw) -> Raw:
    """Return a column to be taken for categories; whole numbers are written without a point."""
    if isinstance(raw, Words | Nothing):
        return raw
    if not isinstance(raw, Numbers) or raw.kind != "numbers":
        raise ColumnError(f"holds {raw.kind}; categorical= is for columns of numbers and text.")
    codes = np.full(len(raw.values), -1)
    found, codes[~raw.missing] = np.unique(raw.values[~raw.missing], return_inverse=True)
    return Words(codes, [label(float(value)) for value in found])


def label(value: float) -> str:
    """Write a number as text, a whole one without a point."""
    return str(int(value)) if value.is_integer() and abs(value) <= _WHOLE else repr(value)
