"""Tables written batch by batch: to files that appear whole, or to standard output."""

import gzip
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import typer

from elmband.cli._csv import CsvWriter
from elmband.cli._files import STANDARD, naming_output, standard_output
from elmband.cli._tables import format_of, is_table
from elmband.cli.commands._shared import FORMATS, check_ending
from elmband.ground.files import appearing_together, naming
from elmband.sources.stream.errors import needed
from elmband.sources.stream.write import EXTENSIONS


def check_ending_for(path: str, data: str) -> None:
    """Refuse the name of a file that cannot hold what is found for these data.

    Numbers without names can be written to more formats than tables. Of what standard input holds
    no more is known before it is read.
    """
    check_ending(path, FORMATS if data != STANDARD and is_table(data) else EXTENSIONS)


def check_escaping(paths: Sequence[str]) -> None:
    """Refuse ``--escape-formulas`` where no output is CSV."""
    if not any(path == STANDARD or format_of(path) == "csv" for path in paths):
        raise typer.BadParameter(
            f"--escape-formulas is for CSV, which {' and '.join(paths)} will not be: leave it out, "
            "or name an output as in -o result.csv."
        )


@contextmanager
def table_writer(path: str, *, escape_formulas: bool = False) -> Iterator[Callable[[Any], None]]:
    """Open a file for Arrow tables, which appears once all are written; ``-`` takes CSV at once."""
    with table_writers([path], escape_formulas=escape_formulas) as (write,):
        yield write


@contextmanager
def table_writers(
    paths: Sequence[str], *, escape_formulas: bool = False
) -> Iterator[list[Callable[[Any], None]]]:
    """Open several files, which are one result: they appear together once all are written."""
    csv = partial(CsvWriter, escape_formulas=escape_formulas)
    files = [Path(path) for path in paths if path != STANDARD]
    with appearing_together(files) as temporary, ExitStack() as stack:
        places = iter(temporary)
        yield [
            stack.enter_context(
                _printing(csv) if path == STANDARD else _filing(path, next(places), csv)
            )
            for path in paths
        ]


@contextmanager
def _printing(csv: Callable[..., CsvWriter]) -> Iterator[Callable[[Any], None]]:
    """Give the way to write to standard output."""
    with naming_output():
        file = _TableFile(".csv", csv, stream=standard_output())
    with _written(file, naming_output) as write:
        yield write
    with naming_output():
        standard_output().flush()


def _filing(
    path: str, temporary: Path, csv: Callable[..., CsvWriter]
) -> AbstractContextManager[Callable[[Any], None]]:
    """Give the way to write to a file under another name than `path`."""
    return _written(_TableFile(path.lower(), csv, temporary), partial(naming, Path(path)))


@contextmanager
def _written(
    file: "_TableFile", told: Callable[[], AbstractContextManager[None]]
) -> Iterator[Callable[[Any], None]]:
    """Give the way to write to a file, and close it; its own failures are `told` as sentences."""

    def write(table: Any) -> None:
        with told():
            file.write(table)

    try:
        yield write
    except BaseException:
        # It is the first failure that counts.
        with suppress(Exception):
            file.close()
        raise
    with told():
        file.close()


class _TableFile:
    """A file being written, made with the first table: its columns are those of the file.

    `csv` makes the writer of a CSV file.
    """

    def __init__(
        self,
        name: str,
        csv: Callable[..., CsvWriter],
        path: Path | None = None,
        *,
        stream: Any = None,
    ) -> None:
        self._name, self._csv, self._path, self._stream = name, csv, path, stream
        self._writer: Any = None

    def write(self, table: Any) -> None:
        """Append rows."""
        if self._writer is None:
            self._begin(table.schema)
        if hasattr(self._writer, "write_table"):
            self._writer.write_table(table)
        else:
            self._writer.write(table)

    def _begin(self, schema: Any) -> None:
        pa = needed("pyarrow", "A table")
        if self._path is not None:
            opened = gzip.open if self._name.endswith(".gz") else open
            # Not by Arrow, which cannot write to names that are not in UTF-8.
            self._stream = opened(self._path, "wb")
        if self._name.endswith(".parquet"):
            self._writer = needed("pyarrow.parquet", self._name).ParquetWriter(self._stream, schema)
        elif format_of(self._name) == "csv":
            self._writer = self._csv(self._stream, schema)
        else:
            self._writer = pa.ipc.new_file(self._stream, schema)

    def close(self) -> None:
        """Write what is left to write; standard output stays open."""
        if self._writer is not None:
            self._writer.close()
        if self._stream is not None and self._path is not None:
            self._stream.close()
