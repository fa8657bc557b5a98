"""Which rows of a table belong together, by the values of a column."""

from collections.abc import Iterable

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import ColumnError, RawRows, Words, at
from elmband.sources.encode.read import read_column


def group_numbers(rows: Iterable[RawRows], name: str) -> Array:
    """Return a number for each row that counts, the same for equal values of the only column.

    Groups are numbered from 0 in the order of their values as text, whatever that of the rows is.
    """
    numbers: dict[str, int] = {}
    found = []
    for part in rows:
        (values,) = part.columns.values()
        with at(part.where, name):
            raw = read_column(values, categorical=True)
            counts = np.ones(part.where.n_rows, bool) if part.s is None else part.s > 0
            if raw.missing[counts].any():
                raise ColumnError(
                    f"names no group for {np.count_nonzero(raw.missing[counts]):,} of these rows; "
                    "fill them in, or leave these rows out."
                )
        assert isinstance(raw, Words) or not counts.any()
        if isinstance(raw, Words):
            codes = raw.codes[counts]
            for code in np.unique(codes).tolist():
                numbers.setdefault(raw.levels[code], len(numbers))
            known = np.array([numbers.get(level, -1) for level in raw.levels])
            found.append(known[codes])
    places = {level: place for place, level in enumerate(sorted(numbers))}
    ordered = np.array([places[level] for level in numbers], dtype=np.int64)
    return ordered[np.concatenate(found)] if found else ordered
