"""Tables with names, batch by batch: read, with columns added, and written in the same order."""

import glob
import gzip
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from elmband.files import appearing_whole
from elmband.stream.errors import needed

_ROWS = 65_536
_FORMATS = {
    ".parquet": "parquet",
    ".arrow": "ipc",
    ".feather": "ipc",
    ".ipc": "ipc",
    ".csv": "csv",
    ".csv.gz": "csv",
}


def is_table(path: str) -> bool:
    """Whether a path names a file whose columns have names, by its ending."""
    return _format(path) is not None


def _format(path: str) -> str | None:
    first = next(iter(_matching(path)), path)
    if Path(first).is_dir():
        inside = sorted(str(file) for file in Path(first).rglob("*") if file.is_file())
        first = next((file for file in inside if _ending(file) is not None), first)
    return _ending(first)


def _ending(path: str) -> str | None:
    found = (kind for end, kind in _FORMATS.items() if str(path).lower().endswith(end))
    return next(found, None)


def batches(path: str, text: frozenset[str] = frozenset()) -> Iterator[Any]:
    """Yield Arrow tables of rows, in order; columns in `text` are read as text from CSV files."""
    pa = needed("pyarrow", "A table")

    with _reading(path):
        for batch in _dataset(path, text).to_batches(batch_size=_ROWS):
            if batch.num_rows:
                yield pa.Table.from_batches([batch])


def column_names(path: str) -> list[str]:
    """Return the names of the columns of a table."""
    with _reading(path):
        return list(_dataset(path).schema.names)


def _dataset(path: str, text: frozenset[str] = frozenset()) -> Any:
    pa = needed("pyarrow", "A table")
    csv, dataset = (needed(f"pyarrow.{name}", path) for name in ("csv", "dataset"))

    how: Any = _format(path)
    if how == "csv":
        options = csv.ConvertOptions(column_types=dict.fromkeys(text, pa.string()))
        how = dataset.CsvFileFormat(convert_options=options)
    return dataset.dataset(_matching(path) or path, format=how)


def _matching(path: str) -> list[str]:
    """Return the files of a pattern in their order; nothing for a plain path."""
    return sorted(glob.glob(path)) if glob.has_magic(path) else []  # noqa: PTH207 (any folder)


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Turn failures of Arrow into a sentence that names the file."""
    pa = needed("pyarrow", "A table")

    try:
        yield
    except pa.ArrowException as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path} cannot be read: {reason}") from error


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


@contextmanager
def table_writer(path: Path) -> Iterator[Callable[[Any], None]]:
    """Open a file for Arrow tables; it appears at `path` once all of them are written."""
    if _ending(str(path)) is None:
        known = ", ".join(_FORMATS)
        raise ValueError(f"{path} has none of the endings that tables are written to: {known}.")
    with appearing_whole(path) as temporary:
        file = _TableFile(temporary, str(path).lower())
        try:
            yield file.write
        finally:
            file.close()


class _TableFile:
    """A file being written, made with the first table: its columns are those of the file."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._writer: Any = None
        self._stream: Any = None

    def write(self, table: Any) -> None:
        """Append rows."""
        if self._writer is None:
            self._begin(table.schema)
        self._writer.write_table(table) if hasattr(self._writer, "write_table") else (
            self._writer.write(table)
        )

    def _begin(self, schema: Any) -> None:
        pa = needed("pyarrow", "A table")
        csv, parquet = (needed(f"pyarrow.{name}", self._name) for name in ("csv", "parquet"))

        if self._name.endswith(".parquet"):
            self._writer = parquet.ParquetWriter(self._path, schema)
            return
        opened = gzip.open if self._name.endswith(".gz") else open
        self._stream = opened(self._path, "wb")
        if ".csv" in self._name:
            self._writer = csv.CSVWriter(self._stream, schema)
        else:
            self._writer = pa.ipc.new_file(self._stream, schema)

    def close(self) -> None:
        """Write what is left to write."""
        if self._writer is not None:
            self._writer.close()
        if self._stream is not None:
            self._stream.close()
