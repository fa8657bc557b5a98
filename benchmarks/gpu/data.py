"""Rows to measure with: skin-like sizes, targets of -1 and 1, sigmoid and linear neurons."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

FEATURES = 147
NEURONS = (347, 1000, 4000)


def layer(n_neurons: int) -> dict[str, int]:
    """Return the paper's layer of that size: every input, and sigmoids."""
    return {"linear": FEATURES, "sigmoid": n_neurons - FEATURES}


def rows(n: int, seed: int = 0) -> tuple[Array, Array]:
    """Return inputs (n, 147) and targets (n,) in float32."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, FEATURES), dtype=np.float32)
    margin = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.standard_normal(n, dtype=np.float32)
    return X, np.sign(margin)


def endless(n: int, block: int, *, pinned: bool) -> Callable[[], Iterator[tuple[Array, Array]]]:
    """Return a function that yields n rows, block by block, each made when it is asked for.

    The rows of a block are neighbours in a ring of four blocks, from a place that moves on with
    every block: making them costs nothing, so that what is measured is the way to the GPU.
    """
    X, y = rows(4 * block)
    ring_X, ring_y = np.concatenate([X, X[:block]]), np.concatenate([y, y[:block]])
    if pinned:
        import torch  # noqa: PLC0415 (knows how to pin)

        ring_X = torch.from_numpy(ring_X).pin_memory().numpy()

    def read() -> Iterator[tuple[Array, Array]]:
        for k, start in enumerate(range(0, n, block)):
            place = k * 7919 % (4 * block)
            stop = place + min(block, n - start)
            yield ring_X[place:stop], ring_y[place:stop]

    return read


def written(folder: Path, X: Array, y: Array) -> dict[str, Path]:
    """Write the rows to one .npy and one Parquet file, the target in the last column."""
    import pyarrow as pa  # noqa: PLC0415 (only where files are measured)
    import pyarrow.parquet as pq  # noqa: PLC0415

    folder.mkdir(parents=True, exist_ok=True)
    table: Any = np.column_stack([X, y])
    paths = {"npy": folder / "rows.npy", "parquet": folder / "rows.parquet"}
    np.save(paths["npy"], table)
    columns = {f"x{k}": table[:, k] for k in range(table.shape[1])}
    # Random digits do not compress; dictionaries would only cost time.
    pq.write_table(pa.table(columns), paths["parquet"], compression="none", use_dictionary=False)
    return paths
