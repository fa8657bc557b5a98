"""Dask arrays and data frames: what they are made of, and what they must be like."""

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from elmband.engines.cluster.blocks import ChunkOf, Form, cut
from elmband.engines.cluster.graph import OnDask
from elmband.engines.cluster.work import Partition


class Collected(NamedTuple):
    """Partitions of Dask collections, where they run, and what estimators note of them."""

    partitions: Sequence[Partition]
    run: OnDask
    form: Form
    names: tuple[str, ...] | None
    single_output: bool


def is_dask(value: Any) -> bool:
    """Tell whether a value is a Dask array or data frame, without importing Dask."""
    if "dask" not in sys.modules or not hasattr(value, "__dask_graph__"):
        return False
    return hasattr(value, "chunks") or hasattr(value, "npartitions")


def is_frame(value: Any) -> bool:
    """Tell whether a Dask collection is a data frame or a column of one."""
    return not hasattr(value, "chunks")


def is_dask_frame(value: Any) -> bool:
    """Tell whether any value is a Dask data frame."""
    return is_dask(value) and is_frame(value)


def collected(X: Any, y: Any, sample_weight: Any = None, client: Any = None) -> Collected:
    """Take blocks of X (n, d), y (n,) or (n, m) and weights (n,) that belong together."""
    given = {"X": X, "y": y, "sample_weight": sample_weight}
    check_collections(**given)
    if y.ndim not in (1, 2):
        raise ValueError(f"y must have one or two dimensions; it has {y.ndim}.")
    form = Form(width_of(X), numbers_of(X), 1 if y.ndim == 1 else width_of(y))
    partitions, shared = partitioned(given, form.chunk)
    return Collected(partitions, OnDask(client, shared), form, names_of(X), y.ndim == 1)


def check_collections(**given: Any) -> None:
    """Raise unless all are Dask collections; weights may be None."""
    for name, value in given.items():
        if value is None and name == "y":
            raise ValueError("y is missing: give a Dask collection of targets beside X.")
        if value is not None and not is_dask(value):
            raise ValueError(
                f"{name} is of type {type(value).__name__}; beside Dask collections all of X, y "
                "and sample_weight must be Dask arrays or data frames."
            )


def partitioned(
    given: Mapping[str, Any], chunk_of: ChunkOf
) -> tuple[Sequence[Partition], Mapping[Any, Any]]:
    """Cut collections that belong together into partitions, and what these share.

    Those that are None are left out.
    """
    from dask.core import flatten  # noqa: PLC0415 - an optional library

    given = {name: value for name, value in given.items() if value is not None}
    parts = _aligned(list(given.values()))
    keys = [list(flatten(part.__dask_keys__())) for part in parts]
    first = next(iter(given))
    for name, found in zip(given, keys, strict=True):
        if len(found) != len(keys[0]):
            raise ValueError(
                f"{first} has {len(keys[0])} partitions, {name} has {len(found)}; blocks of the "
                "same rows must lie in partitions of the same number."
            )
    graph: dict[Any, Any] = {}
    for part in parts:
        graph.update(part.__dask_graph__())
    return cut(graph, zip(*keys, strict=True), chunk_of)


def width_of(value: Any) -> int:
    """Return the number of columns of a collection with two dimensions."""
    return len(value.columns) if is_frame(value) else int(value.shape[1])


def numbers_of(X: Any) -> Any:
    """Return the dtype of rows; refuse columns that are not numbers."""
    kinds = list(X.dtypes) if is_frame(X) else [X.dtype]
    for k, kind in enumerate(kinds):
        if getattr(kind, "kind", "O") not in "biuf":
            column = f"column {X.columns[k]!r} of X" if is_frame(X) else "X"
            raise ValueError(
                f"{column} is of type {kind}, which is not a number; convert it, or train on "
                "scan(..., encoder=TableEncoder())."
            )
    # Nullable dtypes of pandas name the NumPy dtype that they wrap.
    return np.result_type(*(getattr(kind, "numpy_dtype", kind) for kind in kinds))


def names_of(X: Any) -> tuple[str, ...] | None:
    """Return the names of columns, where all are text."""
    names = tuple(X.columns) if is_frame(X) else ()
    return names if names and all(isinstance(name, str) for name in names) else None


def example_of(X: Any) -> Any:
    """Return two rows of zeros that look like those of a collection."""
    if X.ndim != 2:
        raise ValueError(f"X must have 2 dimensions, rows and features; it has {X.ndim}.")
    rows = np.zeros((2, width_of(X)), numbers_of(X))
    if not is_frame(X):
        return rows
    import pandas as pd  # noqa: PLC0415 - it is there where Dask has frames

    return pd.DataFrame(rows, columns=X.columns)


def _aligned(parts: list[Any]) -> list[Any]:
    """Return collections in blocks of whole rows, arrays cut like the first."""
    parts = [part if is_frame(part) else whole_rows(part) for part in parts]
    first = parts[0]
    if not is_frame(first) and not any(map(_unknown, parts)):
        rows = first.chunks[0]
        lengths = [sum(part.chunks[0]) for part in parts]
        if len(set(lengths)) > 1:
            raise ValueError(f"X has {lengths[0]} rows, y has {lengths[-1]}; they must be as many.")
        parts = [part if part.chunks[0] == rows else part.rechunk({0: rows}) for part in parts]
    # Arrays stay as they are: partitions cut the graph themselves, and Dask would make blocks that
    # X and y come from twice. Frames are optimised one by one, to read only the columns asked for.
    return [part.optimize() if is_frame(part) else part for part in parts]


def whole_rows(array: Any) -> Any:
    """Return an array whose blocks have all columns."""
    return array if array.ndim == 1 or len(array.chunks[1]) == 1 else array.rechunk({1: -1})


def _unknown(part: Any) -> bool:
    """Whether the lengths of blocks are unknown, as they always are in frames."""
    return is_frame(part) or any(size != size for size in part.chunks[0])  # noqa: PLR0124 - nan
