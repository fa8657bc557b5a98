"""The columns of a table that local layers may have an output layer for every level of."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from elmband.ground.arrays import double, to_numpy
from elmband.sources.encode import EncoderState, LevelsColumn, NumberColumn, TimeColumn
from elmband.sources.encode.calendar import calendar
from elmband.stacks.levels import BinLevels, Levels, MarkLevels, one_hot_blocks
from elmband.stacks.pool import Pool

LocalColumns: TypeAlias = Literal["auto"] | tuple[str, ...] | None
"""Which columns may have local layers: those that rows left out choose, some by name, or none."""

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# Fewer levels are for neurons to tell apart, and more are too many to hold.
_LEAST_LEVELS, _MOST_LEVELS = 3, 4000
# Rows that a level has on average, at least.
_ROWS_PER_LEVEL = 20
# Numbers that take no more values than this are cut between these, all others at quantiles.
_VALUES = 300
_BINS, _ROWS_PER_BIN = (8, 64), 1000
# How dates are cut, by the unit of NumPy.
_CUTS = (("days", "D"), ("weeks", "W"), ("months", "M"))


class Candidate(NamedTuple):
    """A column that there may be local layers for, and what its levels are."""

    column: str
    kind: str
    levels: Levels


def candidates(
    pool: Pool, table: EncoderState | None, names: Sequence[str] | None, columns: LocalColumns
) -> list[Candidate]:
    """Return the columns that there may be local layers for, among the named ones or all."""
    wanted = None if columns in ("auto", None) else set(columns)
    found = _of_array(pool, names) if table is None else _of_table(pool, table)
    most = min(pool.n_distinct // _ROWS_PER_LEVEL, _MOST_LEVELS)
    return [
        one
        for one in found
        if _LEAST_LEVELS <= one.levels.n_levels <= most and (wanted is None or one.column in wanted)
    ]


def known_columns(table: EncoderState | None, names: Sequence[str] | None, d: int) -> list[str]:
    """Return the names that columns can be asked for by."""
    if table is not None:
        return [column.name for column in table.columns]
    return [f"x{j}" for j in range(d)] if names is None else list(names)


def _of_table(pool: Pool, table: EncoderState) -> Iterator[Candidate]:
    start = 0
    for column in table.used:
        stop = start + len(column.endings)
        if isinstance(column, LevelsColumn):
            yield Candidate(column.name, "levels", MarkLevels(start, stop))
        elif isinstance(column, TimeColumn) and column.parts[:1] == ("year",):
            for kind, unit in _CUTS:
                edges = _date_edges(column.low, column.high, unit)
                if len(edges) > 1:
                    yield Candidate(column.name, kind, BinLevels(start, edges))
        elif isinstance(column, NumberColumn) and column.varies:
            yield from _of_numbers(pool, column.name, start)
        start = stop


def _of_array(pool: Pool, names: Sequence[str] | None) -> Iterator[Candidate]:
    d = int(pool.distinct.rows.X.shape[1])
    names = known_columns(None, names, d)
    marked: set[int] = set()
    for block in one_hot_blocks(pool.distinct.rows.X):
        marked.update(range(*block))
        yield Candidate(names[block.start], "levels", MarkLevels(*block))
    for j in range(d):
        if j not in marked:
            yield from _of_numbers(pool, names[j], j)


def _of_numbers(pool: Pool, name: str, j: int) -> Iterator[Candidate]:
    """Cut a column of numbers between its values, or at quantiles."""
    x = to_numpy(double(pool.distinct.rows.X[:, j]))
    values = np.unique(x)
    if len(values) < _LEAST_LEVELS:
        return
    if len(values) <= min(_VALUES, len(x) // _ROWS_PER_LEVEL):
        yield Candidate(name, "values", BinLevels(j, _around(values)))
        return
    least, most = _BINS
    count = min(max(pool.n_distinct // _ROWS_PER_BIN, least), most)
    edges = np.unique(np.quantile(x, np.linspace(0, 1, count + 1)))
    if len(edges) > _LEAST_LEVELS:
        yield Candidate(name, "quantiles", BinLevels(j, edges))


def _around(values: Floats) -> Floats:
    """Return edges of bins of one value each, and of empty ones where values are further apart.

    A number between two values that are further apart than the nearest ones has no level.

    >>> _around(np.array([1.0, 2.0, 4.0])).tolist()
    [0.5, 1.5, 2.5, 3.5, 4.5]
    """
    half = np.diff(values).min() / 2
    edges = np.concatenate([values - half, values + half])
    # Neighbours share an edge but for rounding.
    ordered = np.sort(edges)
    found: Floats = ordered[np.diff(ordered, prepend=-np.inf) > half / 1000]
    return found


def _date_edges(low: float, high: float, unit: str) -> Floats:
    """Return where days, weeks or months begin between two dates, as years with a fraction.

    >>> _date_edges(2001.0, 2001.1, "M").round(3).tolist()
    [2001.0, 2001.085, 2001.162]
    """
    if not np.isfinite([low, high]).all() or low < 1 or high > 9998:
        return np.empty(0)
    first, last = (_date(year) for year in (low, high))
    step = np.timedelta64(1, unit)  # type: ignore[call-overload]
    starts = np.arange(first.astype(f"M8[{unit}]"), last.astype(f"M8[{unit}]") + 2 * step, step)
    if len(starts) > _MOST_LEVELS + 1:
        return np.empty(0)
    edges: Floats = calendar(starts.astype("M8[us]"))[:, 0]
    return edges


def _date(year: float) -> np.datetime64:
    """Return the date of a year with a fraction."""
    whole = int(np.floor(year))
    start, end = (np.datetime64(f"{y:04d}-01-01", "s") for y in (whole, whole + 1))
    seconds = (end - start).astype(np.int64)
    # Rounded to seconds: the fraction is not exact.
    return start + np.timedelta64(round((year - whole) * float(seconds)), "s")
