"""HDF5: one dataset for every column."""

from typing import Any, BinaryIO

import numpy as np

from elmband.sources.stream.errors import needed
from elmband.sources.stream.write._groups import Rows

# A file of few rows still holds one chunk of every column: 64 kB in float64.
_CHUNK = 8192


class Hdf5File:
    """Datasets of shape (n,) that grow, in the order and with the names of the columns."""

    def __init__(self, file: BinaryIO, columns: tuple[str, ...], dtype: np.dtype[Any]) -> None:
        h5py = needed("h5py", "Writing HDF5")
        for name in columns:
            if {"/", "\0"} & {*name} or name == ".":
                raise ValueError(
                    f"HDF5 cannot name a dataset {name!r}: rename the column or write .parquet."
                )
        # Rows come in large groups: a cache of chunks would only take memory for every column.
        self._file = h5py.File(file, "w", track_order=True, rdcc_nbytes=0)
        try:
            self._datasets = [
                self._file.create_dataset(name, (0,), dtype, maxshape=(None,), chunks=(_CHUNK,))
                for name in columns
            ]
        except BaseException:
            self.close()
            raise
        self._n = 0

    def write(self, rows: Rows) -> None:
        """Append rows."""
        start, self._n = self._n, self._n + len(rows)
        for dataset, values in zip(self._datasets, rows.T, strict=True):
            dataset.resize(self._n, axis=0)
            dataset[start:] = values

    def close(self) -> None:
        """Write what HDF5 still holds."""
        self._file.close()
