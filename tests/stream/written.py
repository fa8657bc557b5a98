"""The same rows in every format that can be read, written by the libraries themselves."""

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import zarr

TABLES = ["parquet", "csv", "csv.gz", "arrow", "feather", "ipc"]
"""Endings of files with named columns; .ipc is written as a stream, which has no index."""

MATRICES = ["npy", "fortran.npy", "h5", "pieces.hdf5", "v2.zarr", "v3.zarr"]
"""Endings of files with a single array of two dimensions."""

ZARR_FORMATS = [2, 3] if zarr.__version__ >= "3" else [2]


def numbers(n_rows, n_columns, dtype=np.float64, seed=0):
    """Numbers that every one of the types in use represents exactly, text included."""
    values = np.random.default_rng(seed).integers(-999, 1000, (n_rows, n_columns))
    return (values / 8 if np.dtype(dtype).kind == "f" else values).astype(dtype)


def write_table(path, columns, group=700):
    """Write named columns; a file that can be cut has a piece for every `group` rows."""
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    kind = path.name.partition(".")[2]
    if kind == "parquet":
        pa.parquet.write_table(table, path, row_group_size=group)
    elif kind == "csv":
        pa.csv.write_csv(table, path)
    elif kind == "csv.gz":
        with pa.CompressedOutputStream(str(path), "gzip") as file:
            pa.csv.write_csv(table, file)
    elif kind == "feather":
        pa.feather.write_feather(table, str(path), chunksize=group, compression="lz4")
    else:
        new = pa.ipc.new_stream if kind == "ipc" else pa.ipc.new_file
        with pa.OSFile(str(path), "wb") as file, new(file, table.schema) as writer:
            writer.write_table(table, max_chunksize=group)
    return path


def write_matrix(path, array):
    """Write one array; HDF5 and Zarr in pieces whose lengths fit no chunk."""
    kind = path.name.partition(".")[2]
    if kind == "npy":
        np.save(path, array)
    elif kind == "fortran.npy":
        np.save(path, np.asfortranarray(array))
    elif kind.endswith("zarr"):
        write_zarr(path, {"": array}, version=int(kind[1]))
    else:
        write_hdf5(path, {"data": array}, pieces=kind == "pieces.hdf5")
    return path


def write_hdf5(path, arrays, *, pieces=False):
    """Write data sets; those in pieces are compressed."""
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            chunks = (min(37, len(array)), *array.shape[1:])
            how = {"chunks": chunks, "compression": "gzip"} if pieces and len(array) else {}
            file.create_dataset(name, data=array, **how)
    return path


def write_zarr(path, arrays, version=2):
    """Write arrays to a group, or a single one without a name to the store itself."""
    how = {"zarr_format": min(version, max(ZARR_FORMATS))} if len(ZARR_FORMATS) > 1 else {}
    for name, array in arrays.items():
        chunks = (41, *array.shape[1:])
        if not name:
            node = zarr.open(
                str(path), mode="w", shape=array.shape, dtype=array.dtype, chunks=chunks, **how
            )
        else:
            group = zarr.open_group(str(path), mode="a", **how)
            make = getattr(group, "create_array", None) or group.create_dataset
            node = make(name, shape=array.shape, dtype=array.dtype, chunks=chunks)
        node[...] = array
    return path


def joined(chunks):
    """All chunks as one: X, Y and s."""
    parts = list(chunks)
    weights = None if parts[0].s is None else np.concatenate([c.s for c in parts])
    return np.concatenate([c.X for c in parts]), np.concatenate([c.Y for c in parts]), weights
