"""Tables of files, batch by batch: columns for a model, and columns that are passed through.

Rows are read no further ahead than they are used: Arrow's own scanner of datasets reads on in
threads while the rows before are being worked on, and memory would grow with the files.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np

from elmband.sources.stream.batches import BatchesPart
from elmband.sources.stream.csv_file import CsvPart
from elmband.sources.stream.errors import needed, reading

_ROWS = 65_536


class TableRows(NamedTuple):
    """Some rows of a table: as a model sees them, and as they are copied."""

    seen: Any
    copied: Any


class _Columns(NamedTuple):
    """Columns of parts of a table; with a `schema`, all parts get its types."""

    parts: tuple[BatchesPart, ...]
    names: list[str]
    schema: Any = None

    def cut(self) -> list["_Columns"]:
        return [self._replace(parts=(part,)) for whole in self.parts for part in whole.cut()]

    def tables(self, size: int) -> Iterator[Any]:
        """Yield the rows in their order, at most `size` at a time."""
        pa = needed("pyarrow", "A table")
        for part in self.parts:
            for batch in part.batches(self.names, size=size)[1]:
                table = pa.Table.from_batches([batch]).select(self.names)
                if self.schema is not None:
                    # Files after the first may have shorter numbers, or others.
                    with reading(part.layout.label, part.kind):
                        table = table.cast(self.schema)
                    table = table.replace_schema_metadata(self.schema.metadata)
                for start in range(0, table.num_rows, size):
                    yield table.slice(start, size)


@dataclass(frozen=True, eq=False)
class FileTable:
    """A table to be read for a model, and to be copied; `copied` is None where that is the same.

    In a CSV file "NA" may stand for a missing value or for Namibia, and 007 for a number or for a
    name: the model sees what it saw in training, and copies are read apart. Tables that are
    `typed` have something better than an empty text.
    """

    label: str
    seen: _Columns
    copied: _Columns | None
    typed: bool

    def cut(self) -> list["FileTable"]:
        """Return parts of the table that can be read by themselves."""
        seen = self.seen.cut()
        copied = [None] * len(seen) if self.copied is None else self.copied.cut()
        pairs = zip(seen, copied, strict=True)
        return [replace(self, seen=one, copied=other) for one, other in pairs]

    def chunks(self, size: int = _ROWS) -> Iterator[Any]:
        """Yield all rows in their order."""
        tables = self.seen.tables(size)
        if self.copied is None:
            yield from (TableRows(table, table) for table in tables)
            return
        for seen, copied in _aligned(tables, self.copied.tables(size)):
            yield TableRows(seen, _without_empty(copied) if self.typed else copied)


def file_table(
    label: str,
    parts: tuple[Any, ...],
    kinds: Mapping[str, str],
    keep: list[str] | None,
    *,
    typed: bool,
) -> FileTable:
    """Return files as a table for a model, and to be copied.

    `kinds` tells what the model takes its columns for, all of which must be there; the columns in
    `keep` are copied, None stands for all. Copies of CSV files stay as they are written, unless
    they are `typed`: then they get the types that they seem to have.
    """
    first = parts[0]
    _check_names(label, parts, kinds, keep)
    copies = first.schema.names if keep is None else list(dict.fromkeys(keep))
    if not isinstance(first, CsvPart):
        names = [name for name in first.schema.names if name in {*kinds, *copies}]
        pa = needed("pyarrow", "A table")
        schema = pa.schema([first.schema.field(name) for name in names], first.schema.metadata)
        return FileTable(label, _Columns(parts, names, schema), None, typed)
    # What the first rows leave empty may be text in later ones.
    texts = [
        n
        for n, kind in kinds.items()
        if kind == "text" or (kind != "numbers" and first.is_empty(n))
    ]
    # Blanks before a date are part of none that may have a time of day behind.
    dates = {n: first.schema.field(n).type for n in kinds if n not in texts and first.is_date(n)}
    models = (part.with_text(texts).with_types(dates, gaps=True) for part in parts)
    seen = _Columns(tuple(models), list(kinds))
    types = {name: first.plain_type(name) if typed else "string" for name in copies}
    copied = (
        _Columns(tuple(part.with_types(types, gaps=False) for part in parts), copies)
        if copies
        else None
    )
    return FileTable(label, seen, copied, typed)


def _check_names(
    label: str, parts: tuple[BatchesPart, ...], kinds: Mapping[str, str], keep: list[str] | None
) -> None:
    """Refuse files without the columns that are needed, and copies of some columns only."""
    first = parts[0]
    names = set(first.schema.names)
    for name in keep or ():
        if name not in names:
            raise ValueError(f"{label} has no column {name!r} that could be kept.")
    for part in parts:
        file, own = part.layout.label, set(part.schema.names)
        for name in kinds:
            if name not in own:
                close = get_close_matches(name, own - kinds.keys(), n=1)
                hint = f"; did you mean {close[0]!r}?" if close else "."
                raise ValueError(
                    f"{file} has no column {name!r}, which the model was trained on{hint}"
                )
        differing = own ^ names if keep is None else set(keep) - own
        if differing:
            raise ValueError(
                f"{file} and {first.layout.label} do not have the same columns to be copied: "
                f"{min(differing)!r} is in one of them only."
            )


def _aligned(tables: Iterator[Any], others: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield tables, and as many rows of the others as they have."""
    pa = needed("pyarrow", "A table")
    rest = None
    for table in tables:
        pieces, lacking = [], table.num_rows
        while lacking:
            rest = rest or next(others)
            pieces.append(rest.slice(0, lacking))
            rest, lacking = rest.slice(lacking), lacking - pieces[-1].num_rows
        yield table, pa.concat_tables(pieces)


def _without_empty(table: Any) -> Any:
    """Return a table in which an empty text is missing."""
    pa, compute = (needed(name, "A table") for name in ("pyarrow", "pyarrow.compute"))
    for k, (name, column) in enumerate(zip(table.column_names, table.columns, strict=True)):
        if pa.types.is_string(column.type):
            gone = compute.equal(column, "")
            kept = compute.if_else(gone, pa.scalar(None, column.type), column)
            table = table.set_column(k, name, kept)
    return table


def with_columns(table: Any, columns: Mapping[str, Any], keep: list[str] | None) -> Any:
    """Return kept columns of a table (all for None) with more beside them.

    A new column whose name is taken gets ``_predicted`` at its end.
    """
    pa = needed("pyarrow", "A table")
    kept = table if keep is None else table.select(keep)
    for name, values in columns.items():
        free = name if name not in kept.column_names else f"{name}_predicted"
        array = np.asarray(values)
        kept = kept.append_column(
            free, pa.array(array.tolist() if array.dtype == object else array)
        )
    return kept
