"""The formats that Arrow writes: Parquet, CSV, and its own."""

import csv
import io
from contextlib import ExitStack
from typing import Any, BinaryIO

import numpy as np

from elmband.stream.errors import needed
from elmband.stream.write._groups import Rows


class _ArrowFile:
    """What the formats share: rows as a record batch, and things to close in reverse order."""

    def __init__(self, file: BinaryIO, columns: tuple[str, ...], dtype: np.dtype[Any]) -> None:
        self._arrow = _module("pyarrow")
        kind = self._arrow.from_numpy_dtype(dtype)
        self._schema = self._arrow.schema([(name, kind) for name in columns])
        self._open = ExitStack()
        self._writer = self._open.enter_context(self._start(file))

    def _start(self, file: BinaryIO) -> Any:
        raise NotImplementedError

    def write(self, rows: Rows) -> None:
        """Append rows."""
        arrays = [self._arrow.array(values) for values in rows.T]
        self._writer.write_batch(self._arrow.record_batch(arrays, schema=self._schema))

    def close(self) -> None:
        """Write what Arrow still holds."""
        self._open.close()


class ParquetFile(_ArrowFile):
    """Parquet with one row group for every call of `write`, compressed by zstd."""

    def _start(self, file: BinaryIO) -> Any:
        parquet = _module("pyarrow.parquet")
        # Hardly any two numbers are equal: dictionaries of them would save nothing.
        return parquet.ParquetWriter(file, self._schema, compression="zstd", use_dictionary=False)


class IpcFile(_ArrowFile):
    """Arrow's own format, also known as Feather, uncompressed: it can be mapped into memory."""

    def _start(self, file: BinaryIO) -> Any:
        return _module("pyarrow.ipc").new_file(file, self._schema)


class CsvFile(_ArrowFile):
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


def _module(name: str) -> Any:
    return needed(name, "Writing Parquet, CSV or Arrow")
