"""Small tables of every format, with and without text, models of them, and photos."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.faults.processes import Server

FEATURES = ("age", "dose", "town")
TARGET = "score"
TABLES = ("csv", "parquet", "arrow", "feather")
"""Formats whose columns have names, and may hold text."""
ARRAYS = ("npy", "h5", "zarr")
"""Formats of numbers."""
STORES = ("h5", "zarr")
"""Formats of numbers that may hold text beside them."""
FORMATS = (*TABLES, *ARRAYS)
INTERVALS, NUMBERS = "town.safetensors", "numbers.safetensors"
"""Models of the table with text, and of its numbers alone."""
ROWS, LONG = 300, 20_000
_TOWNS = ("Oslo", "Åbo", "Rome", "Kuala Lumpur", "")


def make(folder: Path, server: Server) -> None:
    """Write everything that commands read to a folder; nothing is made twice."""
    done = folder / "done"
    if done.exists():
        return
    folder.mkdir(parents=True, exist_ok=True)
    table = people(ROWS)
    for ending in TABLES:
        write_table(folder / f"text.{ending}", table)
        write_table(folder / f"plain.{ending}", table.drop(columns="town"))
    numbers = table.drop(columns="town").to_numpy()
    for ending in ARRAYS:
        write_array(folder / f"plain.{ending}", numbers)
    for ending in STORES:
        write_array(folder / f"text.{ending}", numbers, table["town"].fillna(""))
    long = people(LONG).drop(columns="town").to_numpy()
    np.save(folder / "long.npy", long)
    _write_models(folder, server)
    _write_photos(folder)
    done.touch()


def people(n: int, seed: int = 0) -> pd.DataFrame:
    """Return rows with numbers, text, gaps and a target."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame({"age": rng.normal(50, 15, n), "dose": rng.gamma(2.0, 1.0, n)})
    town = rng.integers(0, len(_TOWNS) - 1, n)
    noise = rng.normal(size=n) * (1 + table["dose"])
    table[TARGET] = table["age"] / 10 + 3 * np.sin(table["dose"]) + town + noise
    table["town"] = [_TOWNS[k] for k in town]
    table.loc[::9, "town"] = None
    return table


def write_table(path: Path, table: pd.DataFrame) -> None:
    """Write a table in the format that the name ends in."""
    if path.suffix == ".csv":
        table.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        table.to_parquet(path, row_group_size=100)
    else:
        import pyarrow as pa  # noqa: PLC0415

        whole = pa.Table.from_pandas(table, preserve_index=False)
        # Feather, version 2, is the same file with other habits.
        options = pa.ipc.IpcWriteOptions(compression="lz4" if path.suffix == ".feather" else None)
        with (
            pa.OSFile(str(path), "wb") as file,
            pa.ipc.new_file(file, whole.schema, options=options) as writer,
        ):
            writer.write_table(whole, max_chunksize=100)


def write_array(path: Path, values: Any, words: Any = None) -> None:
    """Write numbers in the format that the name ends in, some with words beside them."""
    if path.suffix == ".npy":
        np.save(path, values)
    elif path.suffix == ".h5":
        import h5py  # noqa: PLC0415

        with h5py.File(path, "w") as file:
            file.create_dataset("rows", data=values, chunks=(100, values.shape[1]))
            if words is not None:
                file.create_dataset("town", data=list(words), dtype=h5py.string_dtype())
    elif words is None:
        import zarr  # noqa: PLC0415

        array = zarr.open(str(path), mode="w", shape=values.shape, chunks=(100, 2), dtype="f8")
        array[:] = values
    else:
        import zarr  # noqa: PLC0415

        # The older format: the newer one says nothing of text.
        group = zarr.open_group(str(path), mode="w", zarr_format=2)
        for name, column in (("rows", values), ("town", _in_bytes(words))):
            group.create_array(name, data=column, chunks=(100, 2)[: column.ndim])


def _in_bytes(words: Any) -> Any:
    """Return text of fixed length."""
    return np.array([word.encode() for word in words], "S16")


def _write_models(folder: Path, server: Server) -> None:
    for name, source in ((INTERVALS, "text.parquet"), (NUMBERS, "plain.parquet")):
        learn = ("fit", source, "--target", TARGET, "--neurons", "20", "-o", name)
        ended = server.run(learn, folder)
        if ended.status != 0:
            raise RuntimeError(f"no model could be trained: {ended.complained}")


def _write_photos(folder: Path) -> None:
    from PIL import Image  # noqa: PLC0415

    rng = np.random.default_rng(0)
    for kind in ("images", "masks"):
        (folder / kind).mkdir(exist_ok=True)
    for number in range(4):
        photo = rng.integers(0, 256, (40, 40, 3), dtype=np.uint8)
        Image.fromarray(photo).save(folder / "images" / f"{number}.png")
        Image.fromarray(rng.random((40, 40)) < 0.4).save(folder / "masks" / f"{number}.png")
