"""Arrays in .npy files, read with plain file reads.

A memory map would be simpler, but pages that were touched stay counted as memory in use.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from io import FileIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy

from elmband.ground.arrays import Array
from elmband.sources.stream.arrays import ArraySource
from elmband.sources.stream.errors import reading
from elmband.sources.stream.fields import Field
from elmband.sources.stream.layout import DType

_KIND = "a NumPy array"


class NpyArray(ArraySource):
    """An array in a .npy file; only its header is read here."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with reading(str(path), _KIND), path.open("rb") as file:
            shape, by_columns, dtype = _header(file)
            if any(length < 0 for length in shape):
                raise ValueError(f"its shape is {shape}")
            self._offset = file.tell()
        if dtype.hasobject:
            raise ValueError(
                f"{path} holds pickled objects, which are never loaded; save it as numbers."
            )
        self._by_columns, self._stored = by_columns and len(shape) == 2, dtype
        super().__init__(shape, dtype, (path,))
        # In whole numbers of any size: those of NumPy would begin again at zero.
        if path.stat().st_size < self._offset + prod(shape) * dtype.itemsize:
            raise ValueError(f"{path} is shorter than its header says; it is incomplete.")

    def open(self) -> AbstractContextManager[Field]:
        """Open the file for as long as its rows are read."""
        return self._open()

    @contextmanager
    def _open(self) -> Iterator[Field]:
        kind = ColumnsField if self._by_columns else RowsField
        with FileIO(self._path) as file:
            yield kind(file, self._offset, self.shape, self._stored)


def _header(file: Any) -> tuple[tuple[int, ...], bool, DType]:
    version = npy.read_magic(file)
    if version == (1, 0):
        return npy.read_array_header_1_0(file)
    if version == (2, 0):
        return npy.read_array_header_2_0(file)
    raise ValueError(f"version {version} of the format is for named columns only")


class RowsField(Field):
    """Rows that lie one after the other in a file."""

    def __init__(self, file: FileIO, offset: int, shape: tuple[int, ...], dtype: DType) -> None:
        self._file, self._offset, self._shape, self._dtype = file, offset, shape, dtype
        self._buffer = np.empty((0, *shape[1:]), dtype)

    def rows(self, first: int, stop: int) -> Array:
        """Read rows to a buffer that the next call uses again."""
        if len(self._buffer) < stop - first:
            self._buffer = np.empty((stop - first, *self._shape[1:]), self._dtype)
        rows = self._buffer[: stop - first]
        self._fill(rows, first * self._row_size)
        return rows

    def read_into(self, first: int, stop: int, out: Array) -> None:
        """Read rows to where they belong, without a copy where the dtype is the same."""
        if out.dtype == self._dtype and out.flags.c_contiguous:
            self._fill(out, first * self._row_size)
        else:
            super().read_into(first, stop, out)

    @property
    def _row_size(self) -> int:
        return prod(self._shape[1:]) * self._dtype.itemsize

    def _fill(self, out: Array, position: int) -> None:
        self._file.seek(self._offset + position)
        view = memoryview(out.reshape(-1).view(np.uint8))
        while view.nbytes:
            # A single read need not give all that was asked for.
            count = self._file.readinto(view)
            if not count:
                raise ValueError(
                    f"{self._file.name!s} changed while it was being read; it became shorter."
                )
            view = view[count:]


class ColumnsField(RowsField):
    """Columns that lie one after the other in a file, in Fortran order."""

    def rows(self, first: int, stop: int) -> Array:
        """Read the same stretch of every column."""
        columns = np.empty((self._shape[1], stop - first), self._dtype)
        for j, column in enumerate(columns):
            self._fill(column, (j * self._shape[0] + first) * self._dtype.itemsize)
        return columns.T

    def read_into(self, first: int, stop: int, out: Array) -> None:
        """Copy these rows to `out`."""
        Field.read_into(self, first, stop, out)
