"""Labels of Dask collections: counted where they are, and put into numbers for a fit.

To find the classes only y and weights are made, not X.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from elmband.engines.cluster.collections import check_collections, is_frame, partitioned, width_of
from elmband.engines.cluster.graph import OnDask
from elmband.engines.cluster.rows import ClusterRows, as_it_is
from elmband.ground.arrays import Array
from elmband.sums.moments import Chunk
from elmband.sums.rows import DEFAULT_CHUNK_SIZE


def one_column(y: Any) -> Any:
    """Return labels (n, 1) as (n,), others as they are."""
    check_collections(y=y)
    if y.ndim == 2 and width_of(y) == 1:
        return y[y.columns[0]] if is_frame(y) else y[:, 0]
    return y


def label_rows(y: Any, sample_weight: Any, check: Callable[[Any], Array]) -> ClusterRows:
    """Return labels and weights as rows to be added up; `check` returns labels (n,) or refuses."""
    given = {"y": y, "sample_weight": sample_weight}
    partitions, shared = partitioned(given, partial(_label_chunk, check))
    return ClusterRows(
        partitions=partitions,
        run=OnDask(None, shared),
        like=np.empty((0, 1)),
        dtype=np.float64,
        prepare=as_it_is,
        chunk_size=DEFAULT_CHUNK_SIZE,
    )


def _label_chunk(check: Callable[[Any], Array], blocks: Sequence[Any]) -> Chunk:
    """Return labels in the place of both X and Y."""
    labels = check(blocks[0])[:, None]
    s = None if len(blocks) == 1 else np.asarray(blocks[1], dtype=np.float64)
    if s is not None and s.shape != (len(labels),):
        raise ValueError("sample_weight must hold one number for every row")
    return Chunk(labels, labels, s)


def numbered(y: Any, place: Callable[[Any], Array]) -> Any:
    """Return the collection of what `place` makes of every block of labels, numbers (n,)."""
    if not is_frame(y):
        return y.map_blocks(place, dtype=np.float64, meta=np.empty(0))
    return y.map_partitions(_placed, place, meta=("label", np.float64))


def _placed(labels: Any, place: Callable[[Any], Array]) -> Any:
    import pandas as pd  # noqa: PLC0415 - it is there where Dask has frames

    return pd.Series(place(labels), labels.index, name="label")
