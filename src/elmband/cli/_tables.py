"""Tables with names, batch by batch, as commands read them and add columns to them."""

import glob
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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


def batches(path: str, kinds: Mapping[str, str], keep: list[str] | None = None) -> Iterator[Any]:
    """Yield Arrow tables of rows, in order.

    `kinds` tells what a model takes its columns for, all of which must be there; the columns in
    `keep` are read besides, None stands for all.
    """
    pa = needed("pyarrow", "A table")

    rows, wanted = opened_table(path, kinds, keep)
    with reading(path, rows.schema.names):
        for batch in rows.to_batches(batch_size=_ROWS, columns=wanted):
            if batch.num_rows:
                yield pa.Table.from_batches([batch])


def opened_table(
    path: str, kinds: Mapping[str, str], keep: list[str] | None
) -> tuple[Any, list[str]]:
    """Return a table to be read, and the columns that are wanted of it."""
    names = column_names(path)
    for name in kinds:
        if name not in names:
            raise ValueError(f"{path} has no column {name!r}, which the model was trained on.")
    for name in keep or ():
        if name not in names:
            raise ValueError(f"{path} has no column {name!r} that could be kept.")
    wanted = names if keep is None else [name for name in names if name in {*kinds, *keep}]
    with reading(path, names):
        return _dataset(path, kinds), wanted


def column_names(path: str) -> list[str]:
    """Return the names of the columns of a table."""
    with reading(path, []):
        return list(_dataset(path).schema.names)


def _dataset(path: str, kinds: Mapping[str, str] | None = None) -> Any:
    dataset = needed("pyarrow.dataset", path)

    how = _format(path)
    files = _matching(path) or path
    if how != "csv":
        return dataset.dataset(files, format=how)
    types = {}
    if kinds is not None:
        first = dataset.dataset(files, format=_csv(path, {})).schema
        types = {field.name: _type(field.type, kinds.get(field.name)) for field in first}
    return dataset.dataset(files, format=_csv(path, types))


def _csv(path: str, types: dict[str, Any]) -> Any:
    csv, dataset = (needed(f"pyarrow.{name}", path) for name in ("csv", "dataset"))
    return dataset.CsvFileFormat(
        # Cells in quotes may hold line breaks, also where a block of the file ends.
        parse_options=csv.ParseOptions(newlines_in_values=True),
        # What stands for a missing number does so for missing text, as in the fit.
        convert_options=csv.ConvertOptions(column_types=types, strings_can_be_null=True),
    )


def _type(found: Any, kind: str | None) -> Any:
    """Return the type to read a column as: the first rows need not tell that of the later ones."""
    pa = needed("pyarrow", "A table")

    if kind == "text":
        return pa.string()
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
