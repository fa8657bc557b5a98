"""Generated rows: ``python -m benchmarks.scale.data FOLDER FILE`` writes one of the files.

Inputs are standard normal, the target is a smooth function between -1 and 1 plus noise whose size
depends on the inputs. Rows come in blocks, each with a seed of its own, so that no file is ever in
memory as a whole and a smaller file is the head of a larger one. The target is the last column.

``flights.npy`` holds the numeric columns of ``flights/flights-3m.parquet`` in the folder named by
``ELMBAND_DATA``, delay last.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from benchmarks.scale.cases import flights_file
from benchmarks.scale.work import FEATURES
from numpy.typing import NDArray

Array = NDArray[Any]

BLOCK = 50_000
SEED = 20240229
COLUMNS = (*(f"x{k}" for k in range(FEATURES)), "y")


class Rows(NamedTuple):
    """Arrays in memory: inputs X (n, d) and targets y (n,)."""

    X: Array
    y: Array


class File(NamedTuple):
    """A file to stream from, and how it is opened."""

    path: Path
    scan: dict[str, Any]


def blocks(rows: int) -> Iterator[Array]:
    """Yield the rows in blocks (n, 148), float32."""
    coefficients = np.random.default_rng(SEED).standard_normal((FEATURES, 2)) / np.sqrt(FEATURES)
    for k, start in enumerate(range(0, rows, BLOCK)):
        rng = np.random.default_rng([SEED, k])
        block = rng.standard_normal((BLOCK, FEATURES + 1), dtype=np.float32)
        signal, noise = (block[:, :-1] @ coefficients.astype(np.float32)).T
        block[:, -1] *= 0.1 + 0.2 / (1 + np.exp(-2 * noise))
        block[:, -1] += np.sin(signal)
        yield block[: rows - start]


def load(path: Path, dtype: str) -> Rows:
    """Read a .npy file into arrays of another dtype, without a second copy of it in memory."""
    with path.open("rb") as file:
        shape, stored = _read_header(file)
        X = np.empty((shape[0], shape[1] - 1), dtype)
        y = np.empty(shape[0], dtype)
        for start in range(0, shape[0], BLOCK):
            count = min(BLOCK, shape[0] - start)
            block = np.fromfile(file, stored, count * shape[1]).reshape(count, shape[1])
            X[start : start + count] = block[:, :-1]
            y[start : start + count] = block[:, -1]
    return Rows(X, y)


def _read_header(file: IO[bytes]) -> tuple[tuple[int, int], np.dtype[Any]]:
    np.lib.format.read_magic(file)
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    return (shape[0], shape[1]), dtype


def ensure(path: Path) -> Path:
    """Return the path of a file, which is written first where it is missing.

    That runs in another process: it shall not count for the memory of this one.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", __spec__.name, str(path.parent), path.name]
        subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


def make(folder: Path, name: str) -> None:
    """Write ``rows-<rows>-<dtype>.npy``, the same as ``.parquet``, or ``flights.npy``.

    A file appears under its name when it is whole.
    """
    part = folder / f"{name}.part"
    if name == "flights.npy":
        _write_flights(part)
    else:
        _, rows, dtype = Path(name).stem.split("-")
        write = _write_npy if name.endswith(".npy") else _write_parquet
        write(part, int(rows), dtype)
    part.rename(folder / name)


def _write_npy(path: Path, rows: int, dtype: str) -> None:
    header = {
        "shape": (rows, len(COLUMNS)),
        "fortran_order": False,
        "descr": np.lib.format.dtype_to_descr(np.dtype(dtype)),
    }
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks(rows):
            file.write(block.astype(dtype, copy=False).data)


def _write_parquet(path: Path, rows: int, dtype: str) -> None:
    """Write a row group per block, with the compression that pyarrow chooses.

    No dictionaries: no two of these numbers are the same.
    """
    import pyarrow as pa  # noqa: PLC0415 - only where Parquet is asked for
    import pyarrow.parquet as pq  # noqa: PLC0415

    schema = pa.schema([(name, pa.from_numpy_dtype(np.dtype(dtype))) for name in COLUMNS])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for block in blocks(rows):
            columns = [np.ascontiguousarray(column, dtype) for column in block.T]
            writer.write_table(pa.table(columns, schema=schema))


def _write_flights(path: Path) -> None:
    import pyarrow.parquet as pq  # noqa: PLC0415 - only where Parquet is asked for

    source = flights_file()
    if source is None:
        raise FileNotFoundError("ELMBAND_DATA names no folder with flights/flights-3m.parquet")
    table = pq.read_table(source, columns=["distance", "delay"])
    columns = [table[name].to_numpy() for name in ("distance", "delay")]
    with path.open("wb") as file:
        np.save(file, np.column_stack(columns).astype(np.float64))


if __name__ == "__main__":
    make(Path(sys.argv[1]), sys.argv[2])
