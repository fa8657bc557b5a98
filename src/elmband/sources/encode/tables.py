"""Tables in memory, of any library, as blocks of raw columns."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from elmband.ground.arrays import Array, to_numpy
from elmband.sources.encode.raw import RawRows, Where
from elmband.sources.encode.state import EncoderState

# Rows that are encoded at a time: little memory besides the result.
_BLOCK = 2**17
_LABEL = "X"


class Table(NamedTuple):
    """Columns by name; those of an array are called x0, x1, ..."""

    columns: Mapping[str, Any]
    n_rows: int
    named: bool

    def blocks(self, s: Array | None = None) -> Iterator[RawRows]:
        """Yield all rows, some at a time."""
        for first in range(0, self.n_rows, _BLOCK):
            stop = min(first + _BLOCK, self.n_rows)
            columns = {name: column[first:stop] for name, column in self.columns.items()}
            weights = None if s is None else s[first:stop]
            where = Where(_LABEL, first, stop - first)
            yield RawRows(where, columns, s=weights, named=self.named)

    def like(self, state: EncoderState) -> "Table":
        """Return the columns that the features of a fitted encoder are made of."""
        if not state.named:
            if len(self.columns) != len(state.columns):
                raise ValueError(
                    f"X has {len(self.columns)} features, but TableEncoder is expecting "
                    f"{len(state.columns)} features as input."
                )
            return array_table(list(self.columns.values()), self.n_rows)
        columns = {}
        for column in state.used:
            if not self.named or column.name not in self.columns:
                close = get_close_matches(column.name, self.columns, n=1)
                hint = f"did you mean {close[0]!r}?" if close else "the encoder was fitted on it."
                raise ValueError(f"{_LABEL} has no column {column.name!r}; {hint}")
            columns[column.name] = self.columns[column.name]
        return self._replace(columns=columns)


def table_of(X: Any) -> Table | None:
    """Return a table of pandas, Polars, Arrow or another library, or None for anything else."""
    if type(X).__name__ == "RecordBatch" and type(X).__module__.startswith("pyarrow"):
        X = import_module("pyarrow").Table.from_batches([X])
    names = _names(X)
    if names is not None and len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{_LABEL} has two columns named {twice!r}; rename one of them.")
    try:
        frame = nw.from_native(X, pass_through=True)
    except TypeError as error:
        raise ValueError(f"{_LABEL} cannot be read as a table: {error}.") from error
    if isinstance(frame, nw.LazyFrame):
        raise ValueError(f"{_LABEL} is a table that is not computed yet; collect it first.")
    if not isinstance(frame, nw.DataFrame):
        return None
    columns = frame.iter_columns()
    if all(isinstance(name, str) for name in names or ()):
        return Table({series.name: series for series in columns}, len(frame), named=True)
    if names != list(range(len(names or ()))):
        raise ValueError(
            f"{_LABEL} has column names that are not text; rename them, as in "
            "df.columns = df.columns.astype(str)."
        )
    return array_table(list(columns), len(frame))


def array_table(columns: Sequence[Any], n_rows: int) -> Table:
    """Return columns that have no names."""
    return Table({f"x{j}": column for j, column in enumerate(columns)}, n_rows, named=False)


def weights_of(sample_weight: Any, table: Table) -> Array | None:
    """Return one weight for every row, or None."""
    if sample_weight is None:
        return None
    s = np.asarray(to_numpy(sample_weight), dtype=np.float64)
    s = np.full(table.n_rows, s) if s.ndim == 0 else s
    if s.shape != (table.n_rows,) or not np.isfinite(s).all() or s.min() < 0:
        raise ValueError(
            f"sample_weight must be one number of at least 0 for each of the {table.n_rows} rows."
        )
    return s


def object_table(X: Any) -> Table | None:
    """Return an array or a list of rows that hold more than numbers, or None for anything else."""
    if not isinstance(X, np.ndarray | list | tuple):
        return None
    try:
        array = X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)
    except ValueError:
        return None
    if array.ndim != 2 or array.dtype.kind not in "OUTMm" or 0 in array.shape:
        return None
    if array.dtype == object and not any(isinstance(value, str) for value in array.flat):
        return None
    return array_table(list(array.T), len(array))


def _names(X: Any) -> list[Any] | None:
    """Return the names of columns, of which a table may have two that are equal."""
    if hasattr(X, "collect"):
        return None
    found = getattr(X, "column_names", None)
    found = getattr(X, "columns", None) if found is None else found
    return None if found is None or callable(found) else list(found)
