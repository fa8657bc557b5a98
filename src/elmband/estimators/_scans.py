"""Scans to train on and to answer: what is refused of them, and their rows, read in chunks."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from elmband.ground.files import check_name, check_writable, lies_in
from elmband.sources.stream import Scan
from elmband.sources.stream.write import format_of
from elmband.sums.moments import Chunk
from elmband.sums.rows import ArrayRows, StreamRows
from elmband.uncertainty.transform import Transform, fit_transform

# So many rows, if their features take no more than these bytes, are read once and kept: few rows
# allow what many do not.
_KEPT_ROWS = 100_000
_KEPT_BYTES = 2**25


def refuse_beside_scan(**given: Any) -> None:
    """Refuse what a scan brings itself, or what needs all rows at hand."""
    for name, value in given.items():
        if value is None:
            continue
        if name == "y":
            raise ValueError("y is part of a scan: name it there, as in scan(..., target='price').")
        if name == "sample_weight":
            raise ValueError("Weights are part of a scan: name them there, as scan(..., weight=).")
        raise ValueError(f"{name} needs rows in memory; give arrays instead of a scan.")


def refuse_beside_groups(groups: Any, **given: Any) -> None:
    """Refuse what is for rows that are not in memory, where groups need all of them there."""
    for name, value in given.items():
        if groups is not None and value is not None:
            raise ValueError(f"groups needs all rows in memory, without {name}; leave one out.")


def check_training_scan(estimator: BaseEstimator, scan: Scan) -> None:
    """Check that a scan has a target, and note its features in the estimator."""
    if scan.n_outputs == 0:
        raise ValueError(f"{scan!r} has no target to learn; name it, as in scan(..., target=).")
    estimator.n_features_in_ = scan.n_features
    if scan.feature_names is not None:
        estimator.feature_names_in_ = np.asarray(scan.feature_names, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def check_new_scan(estimator: BaseEstimator, scan: Scan) -> None:
    """Refuse a scan whose features are not those of the training rows."""
    name, inputs = type(estimator).__name__, estimator.fitted_.inputs
    count, known = inputs.width, inputs.names
    mend = "choose them with features=[...]."
    if scan.encoder is None and inputs.encoder is not None:
        mend = "give it the encoder of the model, as in scan(..., encoder=model.encoder_)."
    if scan.n_features != count:
        raise ValueError(
            f"{scan!r} has {scan.n_features} features, but {name} is expecting {count} features as "
            f"input; {mend}"
        )
    if known is not None and scan.feature_names is not None:
        for mine, theirs in zip(known, scan.feature_names, strict=True):
            if mine != theirs:
                raise ValueError(
                    f"{scan!r} has the feature {theirs!r} where {name} was trained on {mine!r}; "
                    "name the features in that order, with features=[...]."
                )


def check_targets(estimator: BaseEstimator, scan: Scan, n_outputs: int) -> None:
    """Refuse a scan to be judged by that has not as many targets as the model."""
    if scan.n_outputs != n_outputs:
        raise ValueError(
            f"{scan!r} has {scan.n_outputs} targets, {type(estimator).__name__} was trained on "
            f"{n_outputs}; name them, as in scan(..., target=)."
        )


def refuse_left_out(scan: Scan) -> None:
    """Refuse to predict rows of which some may be left out."""
    if scan.has_weights:
        raise ValueError(
            "Rows to predict have no weights: rows of weight 0 would be missing from the result. "
            "Leave weight= out of the scan."
        )
    if scan.leaves_rows_out:
        raise ValueError(
            "Rows to predict need no target: with missing_target='drop' those without one would be "
            "missing from the result. Leave missing_target= and target= out of the scan."
        )


def check_out(X: Any, out: str | Path) -> None:
    """Refuse a file for results that cannot be written, before any row is read for it."""
    refuse_own_rows(X, out)
    format_of(Path(out))
    check_writable(Path(out))


def refuse_own_rows(X: Any, out: str | Path) -> None:
    """Refuse to write results over the rows of a scan or of a mapped file, or among them."""
    check_name(out)
    if isinstance(X, Scan) and X.reads(Path(out)):
        raise ValueError(
            f"out={str(out)!r} is what the scan reads, or lies in a folder that it reads; name "
            "another place for the results."
        )
    if lies_in(Path(out), _mapped_files(X)):
        raise ValueError(f"out={str(out)!r} is the file that X lies in; name another file.")


def _mapped_files(X: Any) -> Iterator[Path]:
    """Yield the file of an array that was mapped into memory, if it is one or a view of one."""
    while isinstance(X, np.ndarray):
        if isinstance(X, np.memmap) and X.filename is not None:
            yield Path(X.filename)
        X = X.base


def transform_of(choice: Any) -> Transform:
    """Return the transform of targets that are read in chunks."""
    if choice == "box-cox" or (isinstance(choice, tuple | list) and len(choice) == 2):
        raise ValueError(
            "A target_transform that is fitted to the targets needs rows in memory; for a scan "
            "choose 'log', 'log1p' or 'logit'."
        )
    return fit_transform(choice, np.empty((0, 1)))


def scan_rows(
    scan: Scan,
    prepare: Callable[[Chunk], Chunk],
    dtype: Any,
    chunk_size: int | None,
    *,
    whole: bool = False,
) -> ArrayRows | StreamRows:
    """Return the rows of a scan: in memory where they are few, else to be read for every pass.

    Every chunk goes through `prepare`. With `whole`, all rows are taken into memory.
    """
    size = scan.chunk_size if chunk_size is None else chunk_size
    kept = _loaded(scan, size, math.inf if whole else few_rows(scan.n_features, scan.dtype))
    if kept is not None:
        return ArrayRows.of(prepare(kept), size)
    return read_rows(scan, prepare, dtype, size)


def read_rows(
    scan: Scan, prepare: Callable[[Chunk], Chunk], dtype: Any, chunk_size: int
) -> StreamRows:
    """Return the rows of a scan, to be read for every pass, however few they are."""
    like = np.empty((0, scan.n_features), scan.dtype)
    return StreamRows(scan, like, dtype, prepare, chunk_size)


def few_rows(n_features: int, dtype: Any) -> int:
    """Return how many rows are few enough to be kept."""
    return min(_KEPT_BYTES // (n_features * int(dtype.itemsize)), _KEPT_ROWS)


def _loaded(scan: Scan, chunk_size: int, most: float) -> Chunk | None:
    """Read all rows, or none if they are more than `most`."""
    if scan.n_rows is not None and scan.n_rows > most:
        return None
    kept: list[Chunk] = []
    for chunk in scan.chunks(chunk_size):
        kept.append(chunk)
        if sum(part.X.shape[0] for part in kept) > most:
            return None
    s = None if kept[0].s is None else np.concatenate([part.s for part in kept])
    X, Y = (np.concatenate([part[k] for part in kept]) for k in (0, 1))
    if X.shape[0] < 2:
        raise ValueError(f"{scan!r} has {X.shape[0]} row; training needs 2 at least.")
    return Chunk(X, Y, s)
