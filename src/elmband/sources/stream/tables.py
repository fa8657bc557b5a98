"""Tables in memory: pandas, Polars and Arrow, told apart without importing them."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.stream.arrays import ArraySource
from elmband.sources.stream.batches import ROW_LABELS, ArrowColumn
from elmband.sources.stream.fields import Block, Column, Field, Part
from elmband.sources.stream.layout import FLOAT64, FieldInfo, numbers, row_dtype, table_layout


class PandasColumn(Column):
    """A column of pandas."""

    def __init__(self, series: Any) -> None:
        self._series = series
        by_numpy = isinstance(series.dtype, np.dtype)
        self._values = series.to_numpy() if by_numpy else None
        self.kind = str(series.dtype)
        self.dtype = numbers(
            series.dtype if by_numpy else getattr(series.dtype, "numpy_dtype", None)
        )

    def rows(self, first: int, stop: int) -> Array:
        """Return a view where it can be had; missing values become NaN."""
        if self._values is not None:
            return self._values[first:stop]
        return self._series.iloc[first:stop].to_numpy(dtype=np.float64, na_value=np.nan)

    def raw(self, first: int, stop: int) -> list[Any]:
        """Return a slice of the column."""
        return [self._series.iloc[first:stop]]


class PolarsColumn(Column):
    """A column of Polars."""

    def __init__(self, series: Any) -> None:
        self._series = series
        self.kind = str(series.dtype)
        native = series.dtype.is_integer() or series.dtype.is_float()
        self.dtype = numbers(self.kind.lower()) if native else None
        self._converted = self.dtype is None
        if self.kind == "Boolean":
            self.dtype = numbers(bool)
        elif series.dtype.is_numeric() and self._converted:
            self.dtype = FLOAT64

    def rows(self, first: int, stop: int) -> Array:
        """Return a view where it can be had; missing values become NaN."""
        part = self._series.slice(first, stop - first)
        return (part.cast(float) if self._converted else part).to_numpy()

    def raw(self, first: int, stop: int) -> list[Any]:
        """Return a slice of the column."""
        return [self._series.slice(first, stop - first)]


_COLUMNS: dict[str, type[Any]] = {
    "pandas": PandasColumn,
    "polars": PolarsColumn,
    "pyarrow": ArrowColumn,
}


def library_of_table(value: Any) -> str | None:
    """Return the library of a table with named columns, or None for anything else."""
    return _library(value, {"DataFrame", "Table", "RecordBatch"})


def library_of_series(value: Any) -> str | None:
    """Return the library of a single column of a table, or None for anything else."""
    return _library(value, {"Series", "Array", "ChunkedArray"})


def _library(value: Any, names: set[str]) -> str | None:
    for cls in type(value).__mro__:
        library = cls.__module__.partition(".")[0]
        if library in _COLUMNS and cls.__name__ in names:
            return library
    return None


class TablePart(Part):
    """A table in memory."""

    def __init__(self, label: str, table: Any) -> None:
        self._columns = _columns_of(label, table)
        n_rows, is_arrow = table.shape[0], library_of_table(table) == "pyarrow"
        fields = [
            FieldInfo(name, None, column.dtype, column.kind, n_rows)
            for name, column in self._columns
            if not (is_arrow and name.startswith(ROW_LABELS))
        ]
        sizes = (field.dtype.itemsize for field in fields if field.dtype is not None)
        super().__init__(table_layout(label, fields), (), n_rows * sum(sizes))

    def blocks(self, names: Sequence[str], start: int) -> Iterator[Block]:
        """Yield a single block: whatever is asked of it is converted then."""
        del start
        columns = dict(self._columns)
        n_rows = self.layout.rows(names) or 0
        yield Block(self.layout, 0, n_rows, {name: columns[name] for name in names})


def _columns_of(label: str, table: Any) -> list[tuple[str, Column]]:
    if library_of_table(table) == "polars":
        return [(series.name, PolarsColumn(series)) for series in table.get_columns()]
    if library_of_table(table) == "pyarrow":
        return [(n, ArrowColumn(c)) for n, c in zip(table.schema.names, table.columns, strict=True)]
    names = list(table.columns)
    if not all(isinstance(name, str) for name in names) and names != list(range(len(names))):
        raise ValueError(
            f"{label} has column names that are not text, so that a name could be an index; "
            "rename them, as in df.columns = df.columns.astype(str)."
        )
    return [(str(name), PandasColumn(table.iloc[:, j])) for j, name in enumerate(names)]


class SeriesArray(ArraySource):
    """A single column of a table as an array."""

    def __init__(self, series: Any) -> None:
        self._column: Column = _COLUMNS[library_of_series(series) or ""](series)
        super().__init__((len(series),), self._column.dtype)
        self.kind = self._column.kind

    def open(self) -> AbstractContextManager[Field]:
        """Return the column."""
        return nullcontext(self._column)


class TableArray(ArraySource, Field):
    """A table as an array with names for its columns, to go with targets apart from it."""

    def __init__(self, label: str, table: Any) -> None:
        columns = _columns_of(label, table)
        names = tuple(name for name, _ in columns)
        self._columns = [column for _, column in columns]
        dtypes = [column.dtype for column in self._columns]
        known = [dtype for dtype in dtypes if dtype is not None]
        dtype = row_dtype(known) if len(known) == len(dtypes) else None
        super().__init__((len(table), len(columns)), dtype, names=names)
        if dtype is None:
            self.odd = dtypes.index(None)
            self.kind = self._columns[self.odd].kind

    def open(self) -> AbstractContextManager[Field]:
        """Return the table itself."""
        return nullcontext(self)

    def rows(self, first: int, stop: int) -> Array:
        """Put the columns side by side."""
        out = np.empty((stop - first, len(self._columns)), self.dtype)
        self.read_into(first, stop, out)
        return out

    def read_into(self, first: int, stop: int, out: Array) -> None:
        """Copy every column to its place."""
        for j, column in enumerate(self._columns):
            out[:, j] = column.rows(first, stop)

    def raw(self, first: int, stop: int) -> list[Any]:
        """Return a slice of every column."""
        return [column.raw(first, stop)[0] for column in self._columns]
