"""NumPy's own format."""

from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from elmband.sources.stream.write._groups import Rows


class NpyFile:
    """One array of shape (n, k) in C order, whose header is written anew when n is known.

    NumPy leaves spaces in the header for as many digits as n could ever have, so that the new
    header is as long as the old one.
    """

    def __init__(self, file: BinaryIO, columns: tuple[str, ...], dtype: np.dtype[Any]) -> None:
        self._file, self._dtype, self._shape = file, dtype, (0, len(columns))
        self._start = self._write_header()

    def write(self, rows: Rows) -> None:
        """Append rows."""
        self._file.write(np.ascontiguousarray(rows).data)
        self._shape = (self._shape[0] + len(rows), self._shape[1])

    def close(self) -> None:
        """Put the number of rows into the header."""
        self._file.seek(0)
        if self._write_header() != self._start:
            raise ValueError("The header of the .npy file outgrew its place: write .parquet.")

    def _write_header(self) -> int:
        header = {
            "descr": npy.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": self._shape,
        }
        npy.write_array_header_1_0(self._file, header)
        return self._file.tell()
