"""Tables with names, batch by batch, as commands read them and add columns to them."""

import glob
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmband.stream.errors import needed

_ROWS = 65_536
FORMATS = {
    ".parquet": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".csv": "csv",
    ".csv.gz": "csv",
}
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
    first = next(iter(_matching(path)), path)
    if Path(first).is_dir():
        inside = sorted(str(file) for file in Path(first).rglob("*") if file.is_file())
        first = next((file for file in inside if format_of(file) is not None), first)
    return format_of(first)


def format_of(path: str) -> str | None:
    """Return the format of a table by the ending of its name, None if it is not one of these."""
    found = (kind for end, kind in FORMATS.items() if path.lower().endswith(end))
    return next(found, None)


class TableRows(NamedTuple):
    """Some rows of a table: as a model sees them, and as they are copied."""

    seen: Any
    copied: Any


@dataclass(frozen=True, eq=False)
class Table:
    """A table to be read; `texts` are its columns of text in a CSV file.

    In such a file "NA" may stand for a missing value or for Namibia: the model misses it where it
    did so in training, and copies keep it.
    """

    path: str
    rows: Any
    columns: list[str]
    texts: tuple[str, ...]
    verbatim: bool

    @property
    def schema(self) -> Any:
        """Names and types of all columns."""
        return self.rows.schema

    def batches(self, rows: Any = None, size: int = _ROWS) -> Iterator[TableRows]:
        """Yield all rows in their order, or those of a part of the table."""
        pa = needed("pyarrow", "A table")
        part = self.rows if rows is None else rows
        more = {} if rows is None else {"schema": self.schema}
        with reading(self.path, self.schema.names):
            for batch in part.to_batches(batch_size=size, columns=self.columns, **more):
                if batch.num_rows:
                    yield self._told_apart(pa.Table.from_batches([batch]))

    def _told_apart(self, table: Any) -> TableRows:
        seen = _missing(table, self.texts, _stands_for_missing())
        # Tables with types have something better than an empty text.
        return TableRows(seen, table if self.verbatim else _missing(table, self.texts, [""]))


def _missing(table: Any, names: tuple[str, ...], values: list[str]) -> Any:
    """Return a table whose columns of these names miss such values."""
    pa, compute = (needed(name, "A table") for name in ("pyarrow", "pyarrow.compute"))
    for name in names:
        text = table.column(name)
        gone = compute.is_in(text, value_set=pa.array(values, text.type))
        kept = compute.if_else(gone, pa.scalar(None, text.type), text)
        table = table.set_column(table.column_names.index(name), name, kept)
    return table


def _stands_for_missing() -> list[str]:
    """Return what `scan` takes for a missing value in a CSV file."""
    return list(needed("pyarrow.csv", "A CSV file").ConvertOptions().null_values)


def opened_table(
    path: str, kinds: Mapping[str, str], keep: list[str] | None, outputs: tuple[str, ...]
) -> Table:
    """Open a table for a model, and to be copied to tables of the names `outputs`.

    `kinds` tells what the model takes its columns for, all of which must be there; the columns in
    `keep` are read besides, None stands for all. From CSV to CSV these stay as they are written,
    "007" and all; other tables get the types that they seem to have.
    """
    names = column_names(path)
    for name in kinds:
        if name not in names:
            raise ValueError(f"{path} has no column {name!r}, which the model was trained on.")
    for name in keep or ():
        if name not in names:
            raise ValueError(f"{path} has no column {name!r} that could be kept.")
    wanted = names if keep is None else [name for name in names if name in {*kinds, *keep}]
    is_csv = _format(path) == "csv"
    verbatim = is_csv and all(format_of(name) in ("csv", None) for name in outputs)
    with reading(path, names):
        rows = _dataset(path, kinds, verbatim=verbatim)
    found = needed("pyarrow", "A table").types
    texts = [name for name in wanted if is_csv and found.is_string(rows.schema.field(name).type)]
    return Table(path, rows, wanted, tuple(texts), verbatim)


def column_names(path: str) -> list[str]:
    """Return the names of the columns of a table."""
    with reading(path, []):
        return list(_dataset(path).schema.names)


def _dataset(path: str, kinds: Mapping[str, str] | None = None, *, verbatim: bool = False) -> Any:
    dataset = needed("pyarrow.dataset", path)

    how = _format(path)
    files = _matching(path) or path
    if how != "csv":
        return dataset.dataset(files, format=how)
    types = {}
    if kinds is not None:
        first = dataset.dataset(files, format=_csv(path, {})).schema
        others = needed("pyarrow", path).string() if verbatim else None
        types = {f.name: _type(f.type, kinds.get(f.name), others) for f in first}
    return dataset.dataset(files, format=_csv(path, types))


def _csv(path: str, types: dict[str, Any]) -> Any:
    csv, dataset = (needed(f"pyarrow.{name}", path) for name in ("csv", "dataset"))
    return dataset.CsvFileFormat(
        # Cells in quotes may hold line breaks, also where a block of the file ends.
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=False),
    )


def _type(found: Any, kind: str | None, others: Any) -> Any:
    """Return the type to read a column as: the first rows need not tell that of the later ones.

    Columns that a model does not need are read as `others`, if that is a type.
    """
    pa = needed("pyarrow", "A table")

    if kind == "text":
        return pa.string()
    if kind is None and others is not None:
        return others
    if kind == "numbers":
        return pa.float64()
    return pa.string() if found == pa.null() else found


def _matching(path: str) -> list[str]:
    """Return the files of a pattern in their order; nothing for a plain path."""
    return sorted(glob.glob(path)) if glob.has_magic(path) else []  # noqa: PTH207 (any folder)


@contextmanager
def reading(path: str, names: list[str]) -> Iterator[None]:
    """Turn failures of Arrow into a sentence that names the file."""
    pa = needed("pyarrow", "A table")

    try:
        yield
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path} does not exist; check the name and the folder.") from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
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
        return f"column {names[int(place[1])]!r} holds {place[3]}, which is {is_not}"
    short = _OPENING.sub("", line)[:_LONGEST]
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
