"""Lazy predictions of Dask collections: arrays for arrays, frames for frames."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from elmband.engines import engine
from elmband.engines.cluster.collections import is_frame, numbers_of, whole_rows
from elmband.engines.cluster.versions import check_task, own_versions
from elmband.ground.arrays import Array

BlockMap = Callable[[Array], Array]


def lazily(X: Any, function: BlockMap, columns: Sequence[str]) -> Any:
    """Return what `function` makes of every block: an array for an array, a frame for a frame.

    Frames keep their index; a result of one number for each row is a column, any other a table
    with the names `columns`, or with those of its records.
    """
    import dask  # noqa: PLC0415 - an optional library

    dtype = numbers_of(X)
    # The result for two rows tells dtype and shape of all results.
    example = function(np.zeros((2, len(X.columns) if is_frame(X) else X.shape[1]), dtype))
    # The model is in the graph once, not once for every block.
    block = dask.delayed(Block(function, dtype, example), pure=False, traverse=False)
    if is_frame(X):
        return X.map_partitions(
            _framed,
            block,
            list(columns),
            meta=_frame(example[:0], X._meta.index[:0], columns),  # noqa: SLF001 - as Dask's own functions do
        )
    X = whole_rows(X)
    tail = example.shape[1:]
    return X.map_blocks(
        _mapped,
        block=block,
        dtype=example.dtype,
        chunks=(X.chunks[0], *((n,) for n in tail)),
        drop_axis=[1],
        new_axis=list(range(1, 1 + len(tail))) or None,
        meta=example[:0],
    )


class Block:
    """A function of blocks of rows, of which some may be empty."""

    def __init__(self, function: BlockMap, dtype: Any, example: Array) -> None:
        self._function, self._dtype, self._empty = function, dtype, example[:0]
        self._versions = own_versions()

    def __call__(self, rows: Any) -> Array:
        """Return the result for a block, in the thread that asks for it."""
        check_task(self._versions)
        X = np.asarray(rows, dtype=self._dtype)
        if not len(X):
            return self._empty
        if not np.isfinite(X).all():
            raise ValueError("X holds missing or infinite values; fill them in.")
        with engine.alone():
            return self._function(X)


def _mapped(rows: Any, block: Block) -> Array:
    return block(rows)


def _framed(rows: Any, block: Block, columns: list[str]) -> Any:
    return _frame(block(rows), rows.index, columns)


def _frame(values: Array, index: Any, columns: Sequence[str]) -> Any:
    import pandas as pd  # noqa: PLC0415 - it is there where Dask has frames

    if values.dtype.names is not None:
        return pd.DataFrame({name: _text(values[name]) for name in values.dtype.names}, index)
    if values.ndim == 1:
        return pd.Series(_text(values), index, name=columns[0])
    width = int(np.prod(values.shape[1:]))
    names = columns if len(columns) == width else [f"{columns[0]}_{k}" for k in range(width)]
    return pd.DataFrame(values.reshape(len(values), width), index, list(names))


def _text(values: Array) -> Array:
    """Return strings in an array of text: pandas and Parquet know no type of objects."""
    is_text = values.dtype == object and (not len(values) or isinstance(values[0], str))
    return values.astype(str) if is_text else values
