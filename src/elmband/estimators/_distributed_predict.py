"""Answers that are given where rows are: on the workers of a cluster, or whenever Dask asks."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.engines.cluster import Answers, is_dask_frame, lazily, scan_partitions, write_parts
from elmband.engines.progress import shown
from elmband.estimators._clusters import check_collection, spread
from elmband.estimators._remote_call import Asked, records
from elmband.estimators._scans import check_new_scan, refuse_left_out, refuse_own_rows
from elmband.estimators._tables import count_inputs
from elmband.estimators._validate import check_chunk_size
from elmband.sources.stream.errors import needed
from elmband.sums.moments import Chunk, Count

# Files that a folder of results has at most, besides one for every file of the rows.
_MOST_FILES = 1024


def lazy_answers(model: Any, X: Any, method: str, options: Mapping[str, Any]) -> Any:
    """Return answers of several parts to the rows of a Dask collection.

    A frame gives a table, an array gives the parts as arrays, in the tuple of one machine.
    """
    check_is_fitted(model)
    check_collection(model, X, reset=False)
    asked = Asked.of(model, method, options)
    if is_dask_frame(X):
        table = lazily(X, asked.table, [])
        return _mean_apart(table) if method == "predict" else table
    example = asked(np.zeros((2, count_inputs(model))))
    names = getattr(example, "_fields", ("mean", "more"))
    table = lazily(X, partial(_recorded, asked=asked, names=names), [])
    parts = [table[name] for name in names]
    return type(example)(*parts) if hasattr(example, "_fields") else tuple(parts)


def _recorded(X: Any, asked: Asked, names: tuple[str, ...]) -> Any:
    return records(dict(zip(names, asked(X), strict=True)))


def _mean_apart(table: Any) -> tuple[Any, Any]:
    """Return means and what `predict` gives with them, each a column or a table."""
    means = [name for name in table.columns if name.partition("_")[0] == "mean"]
    others = [name for name in table.columns if name not in means]
    first, second = (names[0] if len(names) == 1 else names for names in (means, others))
    return table[first], table[second]


def written_elsewhere(
    model: Any,
    X: Any,
    client: Any,
    out: str | Path | None,
    method: str,
    options: Mapping[str, Any],
) -> Path:
    """Let the workers of a client answer the rows of a scan, and write a folder of Parquet."""
    check_is_fitted(model)
    scan = spread(X, client).scan
    if out is None:
        raise ValueError(
            "Workers write their answers themselves: name a folder for them, as in out='answers'."
        )
    check_new_scan(model, scan)
    refuse_left_out(scan)
    refuse_own_rows(scan, out)
    asked = Asked.of(model, method, options)
    # What cannot be asked for is refused here, before any worker is.
    asked.columns(np.zeros((2, scan.n_features), scan.dtype))
    with shown(model.verbose, scan.nbytes) as bar:
        if bar is not None:
            bar.begin(method, scan.n_rows)
        write_parts(
            client,
            scan_partitions(scan, _MOST_FILES),
            partial(_answered, asked=asked),
            [Path(out)],
            chunk_size=check_chunk_size(model.chunk_size, scan.chunk_size),
            advance=None if bar is None else bar.advance,
        )
    return Path(out)


def _answered(chunk: Chunk, asked: Asked) -> Answers:
    arrow = needed("pyarrow", "Parquet")
    return Answers((arrow.table(asked.columns(chunk.X)),), Count(float(chunk.X.shape[0])))
