"""Record batches of Arrow: what Parquet, CSV and Arrow files are read as."""

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, Self

from elmband.ground.arrays import Array
from elmband.sources.stream.errors import needed
from elmband.sources.stream.fields import Block, Column, Part
from elmband.sources.stream.layout import FLOAT64, DType, FieldInfo, Layout, numbers, table_layout

# pandas writes its row labels as columns with such names; they are not data.
ROW_LABELS = "__index_level_"


class ArrowColumn(Column):
    """One column of a record batch, or of a table."""

    def __init__(self, column: Any) -> None:
        if getattr(column, "num_chunks", 0) == 1:
            column = column.chunk(0)
        self._column = column
        self.kind, self.dtype = str(column.type), arrow_dtype(column.type)
        one_piece = not hasattr(column, "num_chunks")
        is_view = one_piece and column.null_count == 0 and _is_native(column.type)
        self._values = column.to_numpy() if is_view else None

    def rows(self, first: int, stop: int) -> Array:
        """Return a view where it can be had; missing values become NaN."""
        if self._values is not None:
            return self._values[first:stop]
        # Large whole numbers are rounded, as they are without missing values among them.
        part = self._column.slice(first, stop - first).cast("float64", safe=False)
        return part.to_numpy(zero_copy_only=False)

    def raw(self, first: int, stop: int) -> list[Any]:
        """Return a slice of the column."""
        part = self._column.slice(first, stop - first)
        if not hasattr(part, "num_chunks"):
            part = needed("pyarrow", "A table").chunked_array([part])
        return [part]


@cache
def _is_native(kind: Any) -> bool:
    types = needed("pyarrow.types", "A table")
    return bool(types.is_integer(kind) or types.is_floating(kind))


@cache
def arrow_dtype(kind: Any) -> DType | None:
    """Return the NumPy dtype of a column, or None where it does not hold numbers."""
    types = needed("pyarrow.types", "A table")
    if _is_native(kind) or types.is_boolean(kind):
        return numbers(kind.to_pandas_dtype())
    return FLOAT64 if types.is_decimal(kind) or types.is_null(kind) else None


def arrow_layout(label: str, schema: Any, n_rows: int | None) -> Layout:
    """Return the layout of an Arrow table or of a file that is read as such."""
    fields = [
        FieldInfo(field.name, None, arrow_dtype(field.type), str(field.type), n_rows)
        for field in schema
        if not field.name.startswith(ROW_LABELS)
    ]
    return table_layout(label, fields)


def validated(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield record batches of a file once all of them that is used has been looked at.

    Arrow trusts what a file says: by offsets, codes and lengths that are not so it would read
    beyond the memory that it has, and crash or copy what lies there. Of a million rows, twenty
    columns of numbers take 2 ms for this, and fifteen with five of text 0.1 s, half a percent of
    what it takes to encode them.
    """
    invalid = needed("pyarrow", "A table").ArrowInvalid
    for batch in batches:
        try:
            batch.validate(full=True)
        except invalid as error:
            raise invalid(_invalid(batch)) from error
        yield batch


def _invalid(batch: Any) -> str:
    """Return in words what is wrong with a batch, by its first column that is not valid."""
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except ValueError as error:
            is_text = "UTF8" in str(error)
            what = "text that is not in UTF-8" if is_text else "places that lie outside of it"
            return f"column {name!r} holds {what}"
    return "its columns do not fit together"


class BatchesPart(Part):
    """Named columns that come as record batches.

    Attributes
    ----------
    kind : str
        The format, for sentences.
    schema : pyarrow.Schema
        Names and types of all columns.
    """

    kind: str
    schema: Any

    @abstractmethod
    def batches(
        self, names: Sequence[str], start: int = 0, size: int | None = None
    ) -> tuple[int, Iterator[Any]]:
        """Return batches with these columns, and the row at which they begin, `start` or before it.

        With a `size` their columns have the types of the schema, and no format that has a choice
        gives more rows at a time.
        """

    def blocks(self, names: Sequence[str], start: int) -> Iterator[Block]:
        """Yield each record batch as a block."""
        first, batches = self.batches(names, start)
        for batch in batches:
            fields = {name: ArrowColumn(batch.column(name)) for name in names}
            yield Block(self.layout, first, batch.num_rows, fields)
            first += batch.num_rows

    def cut(self) -> list[Self]:
        """Return parts of these rows that can be read by themselves."""
        return [self]
