"""Tables with names, batch by batch, as commands read them and add columns to them."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmband.cli._batches import Piece, Reading
from elmband.sources.stream.csv_decimal import other_point
from elmband.sources.stream.csv_dialect import CsvDialect
from elmband.sources.stream.csv_open import CsvColumns, csv_columns, csv_names
from elmband.sources.stream.csv_sniff import dialect_of
from elmband.sources.stream.errors import in_our_words, needed
from elmband.sources.stream.files import find_files, kind_of
from elmband.sources.stream.pieces import refuse_dialect

_ROWS = 65_536
_KINDS = {"parquet": "parquet", "arrow": "ipc", "csv": "csv"}
# Where pyarrow says which value it could not read.
_VALUE = re.compile(r"In CSV column #(\d+): .*?error to (\w+).*?: (?:invalid value )?(.*)")
_TWICE = re.compile(r"multiple columns named (.*)")
_OPENING = re.compile(r"^.*input source '.*?': (?:Invalid: )?(?:CSV parse error: )?")
# A damaged file may be quoted at any length.
_LONGEST = 120
_IS_NOT = {"double": "not a number", "int64": "not a whole number as those before it"}


def is_table(path: str) -> bool:
    """Whether a path names a file whose columns have names, by its ending."""
    return _format(path) is not None


def _format(path: str) -> str | None:
    try:
        return format_of(_files(path)[0])
    except (OSError, ValueError):
        return format_of(path)


def _files(path: str) -> list[str]:
    """Return the files that `scan` would read."""
    return [str(found.path) for found in find_files(path)]


def format_of(path: str) -> str | None:
    """Return the format of a table by the ending of its name, None if it is not one of these."""
    return _KINDS.get(kind_of(Path(path)) or "")


class TableRows(NamedTuple):
    """Some rows of a table: as a model sees them, and as they are copied."""

    seen: Any
    copied: Any


@dataclass(frozen=True, eq=False)
class Table:
    """A table to be read for a model, and to be copied; `copied` is None where that is the same.

    In a CSV file "NA" may stand for a missing value or for Namibia, and 007 for a number or for a
    name: the model sees what it saw in training, and copies are read apart. Tables that are
    `typed` have something better than an empty text.
    """

    path: str
    seen: Reading
    copied: Reading | None
    typed: bool

    def parts(self) -> list["Table"]:
        """Return parts of the table that others may read by themselves."""
        with reading(self.path, self.seen.schema.names):
            seen = list(self.seen.parts())
            copied = [None] * len(seen) if self.copied is None else list(self.copied.parts())
        pairs = zip(seen, copied, strict=True)
        return [replace(self, seen=one, copied=other) for one, other in pairs]

    def batches(self, size: int = _ROWS) -> Iterator[TableRows]:
        """Yield all rows in their order."""
        with reading(self.path, self.seen.schema.names):
            tables = self.seen.tables(size)
            if self.copied is None:
                yield from (TableRows(table, table) for table in tables)
                return
            for seen, copied in _aligned(tables, self.copied.tables(size)):
                yield TableRows(seen, _without_empty(copied) if self.typed else copied)


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


def opened_table(
    path: str,
    kinds: Mapping[str, str],
    keep: list[str] | None,
    outputs: tuple[str, ...],
    asked: CsvDialect,
) -> Table:
    """Open a table for a model, and to be copied to tables of the names `outputs`.

    `kinds` tells what the model takes its columns for, all of which must be there; the columns in
    `keep` are read besides, None stands for all. From CSV to CSV these stay as they are written;
    other tables get the types that they seem to have. CSV files are written as `asked`.
    """
    names = column_names(path, asked)
    _check_names(path, names, kinds, keep, asked)
    copies = names if keep is None else list(dict.fromkeys(keep))
    typed = any(format_of(name) not in ("csv", None) for name in outputs)
    with reading(path, names):
        if _format(path) != "csv":
            wanted = [name for name in names if name in {*kinds, *copies}]
            whole = Reading(pieces_of(path, asked), _format(path) or "", _schema(path), wanted)
            return Table(path, whole, None, typed)
        pieces = pieces_of(path, asked)
        found = csv_columns(Path(pieces[0].path), pieces[0].dialect)
        written = _typed(found) if typed else _untyped(found)
        copied = Reading(pieces, "csv", written, copies) if copies else None
        seen = Reading(pieces, "csv", _typed(found, kinds), list(kinds), gaps=True)
        return Table(path, seen, copied, typed)


def pieces_of(path: str, asked: CsvDialect) -> tuple[Piece, ...]:
    """Return the files of a table; each of CSV is written as `asked`, or as it tells."""
    files = _files(path)
    if _format(path) != "csv":
        refuse_dialect(asked, path)
        return tuple(map(Piece, files))
    return tuple(Piece(file, dialect=dialect_of(Path(file), asked)) for file in files)


def _check_names(
    path: str,
    names: list[str],
    kinds: Mapping[str, str],
    keep: list[str] | None,
    asked: CsvDialect,
) -> None:
    """Refuse files without the columns that are needed, and copies of some columns only."""
    for name in keep or ():
        if name not in names:
            raise ValueError(f"{path} has no column {name!r} that could be kept.")
    files = _files(path)
    for file in files:
        own = set(column_names(file, asked) if len(files) > 1 else names)
        for name in kinds:
            if name not in own:
                close = get_close_matches(name, own - kinds.keys(), n=1)
                hint = f"; did you mean {close[0]!r}?" if close else "."
                raise ValueError(
                    f"{file} has no column {name!r}, which the model was trained on{hint}"
                )
        differing = own ^ set(names) if keep is None else set(keep) - own
        if differing:
            raise ValueError(
                f"{file} and {files[0]} do not have the same columns to be copied: "
                f"{min(differing)!r} is in one of them only."
            )


def column_names(path: str, asked: CsvDialect) -> list[str]:
    """Return the names of the columns of a table; CSV files are written as `asked`."""
    with reading(path, []):
        if _format(path) != "csv":
            refuse_dialect(asked, path)
            return list(_schema(path).names)
        first = Path(_files(path)[0])
        return csv_names(first, dialect_of(first, asked))


def _schema(path: str) -> Any:
    """Return the types of the columns of a table that tells them."""
    dataset, how = needed("pyarrow.dataset", path), _format(path) or ""
    _check_distinct(path, how)
    return dataset.dataset(_files(path), format=how).schema


def _typed(found: CsvColumns, kinds: Mapping[str, str] | None = None) -> Any:
    """Return the types that a model takes columns for, or those that columns seem to have."""
    pa = needed("pyarrow", "A table")
    own = dict.fromkeys(found.padded, "text") if kinds is None else kinds
    return pa.schema([(f.name, _type(f.type, own.get(f.name))) for f in found.schema])


def _untyped(found: CsvColumns) -> Any:
    """Return the type of text for all columns, which keeps them as they are written."""
    pa = needed("pyarrow", "A table")
    return pa.schema([(name, pa.string()) for name in found.schema.names])


def _check_distinct(path: str, how: str) -> None:
    """Refuse files of two columns with one name: Arrow would not say which."""
    for file in _files(path):
        if how == "parquet":
            names = needed("pyarrow.parquet", file).read_schema(file).names
        else:
            with needed("pyarrow", file).ipc.open_file(file) as opened:
                names = opened.schema.names
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ValueError(f"{file} has two columns named {twice[0]!r}; rename one of them.")


def _type(found: Any, kind: str | None) -> Any:
    """Return the type to read a column as: the first rows need not tell that of the later ones."""
    pa = needed("pyarrow", "A table")

    if kind == "text":
        return pa.string()
    # Text may be numbers and marks of absence.
    if kind == "numbers" and not (pa.types.is_boolean(found) or pa.types.is_string(found)):
        return pa.float64()
    return pa.string() if found == pa.null() else found


@contextmanager
def reading(path: str, names: list[str]) -> Iterator[None]:
    """Turn failures of Arrow into a sentence that names the file."""
    pa = needed("pyarrow", "A table")

    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path} does not exist; check the name and the folder.") from error
    except (pa.ArrowException, UnicodeDecodeError, OSError) as error:  # of damaged files
        twice = _TWICE.search(str(error))
        if twice:
            raise ValueError(
                f"{path} has two columns named {twice[1]!r}; rename one of them."
            ) from error
        raise ValueError(f"{path} cannot be read: {_reason(str(error), names)}.") from error


def _reason(said: str, names: list[str]) -> str:
    """Return what Arrow says against a file, without what only its makers understand."""
    line = said.partition("\n")[0]
    place = _VALUE.search(line)
    if place and int(place[1]) < len(names):
        is_not = _IS_NOT.get(place[2], f"not of the type {place[2]} as those before it")
        point = other_point(place[3]) if place[2] == "double" else None
        hint = "" if point is None else f"; name the decimal point with --decimal {point}"
        return f"column {names[int(place[1])]!r} holds {place[3]}, which is {is_not}{hint}"
    short = _OPENING.sub("", in_our_words(line))[:_LONGEST]
    return "".join(filter(str.isprintable, short)).rstrip(" .:")


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
