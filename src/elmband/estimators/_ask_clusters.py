"""Questions about rows on a cluster: Dask collections, and scans that workers read."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from elmband.engines.cluster import Answers, is_dask_frame, lazily, scan_partitions, write_parts
from elmband.engines.progress import shown
from elmband.estimators._clusters import check_collection, spread
from elmband.estimators._parameters import check_chunk_size
from elmband.estimators._scans import check_new_scan, refuse_left_out, refuse_own_rows
from elmband.ground.arrays import Array
from elmband.models.question import as_columns, as_records
from elmband.sources.stream.errors import needed
from elmband.sums.moments import Chunk, Count

# Files that a folder of results has at most, besides one for every file of the rows.
_MOST_FILES = 1024


def ask_lazily(model: Any, X: Any, out: str | Path | None, query: Any, records: Any) -> Any:
    """Return answers to the rows of a Dask collection, as others that are computed when query.

    The question is `query` of arrays, and of data frames in `records`.
    """
    check_collection(model, X, reset=False)
    if out is not None:
        raise ValueError(
            "out is for results of this machine; workers write those of a Dask collection by its "
            "own methods, such as predict_interval(X).to_parquet(...)."
        )
    two, question = np.zeros((2, model.fitted_.inputs.width)), query.question
    example = query(two)
    if is_dask_frame(X):
        names = records(two).dtype.names
        if len(names) == 1:
            return lazily(X, partial(_column, records), [question.series or names[0]])
        found = lazily(X, records, [])
        return _mean_apart(found) if type(example) is tuple else found
    if not isinstance(example, tuple):
        return lazily(X, query, [])
    names = getattr(example, "_fields", ("mean", "more"))
    table = lazily(X, partial(_parts, query, names), [])
    parts = [table[name] for name in names]
    return tuple(parts) if question.kind is None else question.kind(*parts)


def _column(records: Callable[[Array], Array], X: Array) -> Array:
    """Return the only column of an answer."""
    found = records(X)
    return np.ascontiguousarray(found[found.dtype.names[0]])


def _parts(query: Callable[[Array], Any], names: tuple[str, ...], X: Array) -> Array:
    """Return an answer of several parts as records."""
    return as_records(dict(zip(names, query(X), strict=True)))


def _mean_apart(table: Any) -> tuple[Any, Any]:
    """Return means and what `predict` gives with them, each a column or a table."""
    means = [name for name in table.columns if name.partition("_")[0] == "mean"]
    others = [name for name in table.columns if name not in means]
    first, second = (names[0] if len(names) == 1 else names for names in (means, others))
    return table[first], table[second]


def ask_workers(model: Any, X: Any, out: str | Path | None, client: Any, records: Any) -> Path:
    """Let the workers of a client answer the rows of a scan, and write a folder of Parquet."""
    scan = spread(X, client).scan
    if out is None:
        raise ValueError(
            "Workers write their answers themselves: name a folder for them, as in out='answers'."
        )
    check_new_scan(model, scan)
    refuse_left_out(scan)
    refuse_own_rows(scan, out)
    # What cannot be query for is refused here, before any worker is.
    records(np.zeros((2, scan.n_features), scan.dtype))
    with shown(model.verbose, scan.nbytes) as bar:
        if bar is not None:
            bar.begin(records.question.method, scan.n_rows)
        write_parts(
            client,
            scan_partitions(scan, _MOST_FILES),
            partial(_answered, records=records),
            [Path(out)],
            chunk_size=check_chunk_size(model.chunk_size, scan.chunk_size),
            advance=None if bar is None else bar.advance,
        )
    return Path(out)


def _answered(chunk: Chunk, records: Callable[[Array], Array]) -> Answers:
    arrow = needed("pyarrow", "Parquet")
    table = arrow.table(as_columns(records(chunk.X)))
    return Answers((table,), Count(float(chunk.X.shape[0])))
