"""The formats that Arrow writes: Parquet, CSV, and its own."""

import csv
import gzip
import io
from collections.abc import Iterable
from contextlib import ExitStack
from typing import Any, BinaryIO

import numpy as np

from elmband.sources.stream.errors import needed
from elmband.sources.stream.write._csv import CsvWriter
from elmband.sources.stream.write._groups import Rows


class ArrowFile:
    """What the formats share: rows as a record batch, and things to close in reverse order.

    Columns are numbers of one type, or of the types of a `schema` of Arrow.
    """

    def __init__(
        self,
        file: BinaryIO,
        columns: tuple[str, ...],
        dtype: np.dtype[Any],
        schema: Any = None,
    ) -> None:
        self._arrow = _module("pyarrow")
        kind = self._arrow.from_numpy_dtype(dtype)
        self._schema = schema or self._arrow.schema([(name, kind) for name in columns])
        self._open = ExitStack()
        self._writer = self._open.enter_context(self._start(file))

    def _start(self, file: BinaryIO) -> Any:
        raise NotImplementedError

    def write(self, rows: Rows) -> None:
        """Append rows."""
        self.write_columns(rows.T)

    def write_columns(self, columns: Iterable[Any]) -> None:
        """Append rows that are given column by column."""
        arrays = [
            self._arrow.array(values, kind)
            for values, kind in zip(columns, self._schema.types, strict=True)
        ]
        self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))

    def close(self) -> None:
        """Write what Arrow still holds."""
        self._open.close()


class ParquetFile(ArrowFile):
    """Parquet with one row group for every call of `write`, compressed by zstd."""

    def _start(self, file: BinaryIO) -> Any:
        parquet = _module("pyarrow.parquet")
        # Hardly any two numbers are equal: dictionaries of them would save nothing.
        text = [field.name for field in self._schema if field.type == self._arrow.string()]
        options = {"compression": "zstd", "use_dictionary": text or False}
        return parquet.ParquetWriter(file, self._schema, **options)


class IpcFile(ArrowFile):
    """Arrow's own format, also known as Feather, uncompressed: it can be mapped into memory."""

    def _start(self, file: BinaryIO) -> Any:
        return _module("pyarrow.ipc").new_file(file, self._schema)


class CsvFile(ArrowFile):
    """A header line, then numbers in as few digits as give the same number when read."""

    def _start(self, file: BinaryIO) -> Any:
        # Arrow would put quotes around every name; this quotes where it is needed.
        header = io.StringIO()
        csv.writer(header, lineterminator="\n").writerow(self._schema.names)
        file.write(header.getvalue().encode())
        module = _module("pyarrow.csv")
        options = module.WriteOptions(include_header=False)
        return module.CSVWriter(file, self._schema, write_options=options)


class GzipCsvFile(CsvFile):
    """The same, compressed."""

    def _start(self, file: BinaryIO) -> Any:
        stream = self._arrow.CompressedOutputStream(file, "gzip")
        return super()._start(self._open.enter_context(stream))


class TableFile:
    """Arrow tables of one schema, which is that of the first; CSV has quotes only where needed."""

    def __init__(self, file: Any, name: str, *, escape_formulas: bool = False) -> None:
        self._file, self._name, self._escape_formulas = file, name.lower(), escape_formulas
        self._open = ExitStack()
        self._write: Any = None

    def add(self, table: Any) -> None:
        """Append rows."""
        if self._write is None:
            self._write = self._begun(table.schema)
        self._write(table)

    def _begun(self, schema: Any) -> Any:
        if self._name.endswith(".parquet"):
            make = _module("pyarrow.parquet").ParquetWriter
        elif ".csv" in self._name:
            file = self._file
            if self._name.endswith(".gz"):
                file = self._open.enter_context(gzip.GzipFile(fileobj=file, mode="wb"))
            return CsvWriter(file, schema, escape_formulas=self._escape_formulas).write
        else:
            make = _module("pyarrow.ipc").new_file
        return self._open.enter_context(make(self._file, schema)).write_table

    def flush(self) -> None:
        """Leave nothing to be written later but what belongs to the end of a file."""

    def close(self) -> None:
        """Write what is left to write; the file is closed by whoever opened it."""
        self._open.close()


def _module(name: str) -> Any:
    return needed(name, "Writing Parquet, CSV or Arrow")
