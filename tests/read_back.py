"""Files of answers read back by other libraries, to the last bit."""

from pathlib import Path

import h5py
import numpy as np
import pandas as pd


def read_csv(path):
    # The reader of some versions of pandas loses the last digits of numbers.
    frame = pd.read_csv(path, dtype=str)
    return frame.replace({"True": "1", "False": "0"}).astype(float)


READERS = {".parquet": pd.read_parquet, ".csv": read_csv, ".arrow": pd.read_feather}


def read_back(path, names):
    """Return the columns `names`, which are all there are, side by side."""
    path = Path(path)
    if path.suffix == ".npy":
        return np.load(path)
    if path.suffix == ".h5":
        with h5py.File(path) as file:
            return np.column_stack([file[name][:] for name in names])
    frame = READERS[path.suffix](path)
    assert list(frame) == names
    return frame.to_numpy()
