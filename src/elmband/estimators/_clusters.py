"""Rows on a cluster: what estimators need to train on them, to judge and to predict them."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from elmband.engines.cluster import (
    ClusterRows,
    Collected,
    as_it_is,
    collected,
    example_of,
    runner_of,
    scan_partitions,
)
from elmband.estimators._parameters import check_chunk_size
from elmband.estimators._scans import few_rows
from elmband.estimators.tables import check_encoded
from elmband.sources.stream import Scan
from elmband.sums.moments import Chunk
from elmband.sums.rows import DEFAULT_CHUNK_SIZE

Prepare = Callable[[Chunk], Chunk]


class Spread(NamedTuple):
    """A scan whose files are read by the workers of a client."""

    scan: Scan
    client: Any


def spread(X: Any, client: Any) -> Any:
    """Return X itself, or with the client whose workers read it."""
    if client is None:
        return X
    if not isinstance(X, Scan):
        raise ValueError(
            "client is for a scan, whose files workers read; Dask collections find their own, and "
            "arrays are soon summed where they are."
        )
    return Spread(X, client)


def scan_on_workers(
    rows: Spread, prepare: Prepare, dtype: Any, chunk_size: int | None, *, features: bool = True
) -> ClusterRows:
    """Return the rows of a scan to be read by workers, in every pass."""
    scan, client = rows
    run = runner_of(client)
    return ClusterRows(
        partitions=scan_partitions(scan, features=features),
        run=run,
        like=np.empty((0, scan.n_features), scan.dtype),
        dtype=dtype,
        prepare=prepare,
        chunk_size=check_chunk_size(chunk_size, scan.chunk_size),
        few=few_rows(scan.n_features, scan.dtype),
    )


def collection_rows(
    found: Collected, prepare: Prepare, dtype: Any, chunk_size: int | None
) -> ClusterRows:
    """Return the rows of Dask collections, made anew in every pass."""
    form = found.form
    return ClusterRows(
        partitions=found.partitions,
        run=found.run,
        like=np.empty((0, form.n_features), form.dtype),
        dtype=dtype,
        prepare=prepare,
        chunk_size=check_chunk_size(chunk_size, DEFAULT_CHUNK_SIZE),
        few=few_rows(form.n_features, form.dtype),
    )


def check_collection(estimator: BaseEstimator, X: Any, *, reset: bool) -> None:
    """Check number and names of the features of a Dask collection, or note them."""
    if not reset and estimator.fitted_.inputs.encoder is not None:
        check_encoded(estimator, example_of(X))
        return
    validate_data(estimator, example_of(X), dtype="numeric", reset=reset)


def refuse_on_cluster(**given: Any) -> None:
    """Refuse what needs all rows at hand, or a device of this machine."""
    for name, value in given.items():
        if value is not None:
            raise ValueError(f"{name} is for rows of this machine; leave it out for a cluster.")


def held_out_on_cluster(
    X: Any, y: Any, weight: Any, n_outputs: int, chunk_size: int | None
) -> ClusterRows:
    """Return labelled rows of Dask collections, or of a scan with a client, to be judged by."""
    if isinstance(X, Spread):
        return scan_on_workers(X, as_it_is, np.float64, chunk_size)
    found = collected(X, y, weight)
    if found.form.n_outputs != n_outputs:
        raise ValueError(
            f"y has {found.form.n_outputs} outputs, the model was trained on {n_outputs}."
        )
    return collection_rows(found, as_it_is, np.float64, chunk_size)
