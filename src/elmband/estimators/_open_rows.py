"""Rows to train on, of whatever kind, as chunks of numbers: the one way in of every fit.

Arrays, tables, scans and Dask collections are checked, encoded, turned into ±1 where classes are
learned, transformed, and sent to where they are worked on.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from elmband.engines import engine
from elmband.engines.cluster import collected, is_dask
from elmband.estimators._arrays import check_labels, training_rows
from elmband.estimators._class_targets import (
    ClassTask,
    EncodedTargets,
    classes_in_encoder,
    encode_dask,
    encode_labels,
    encode_scan,
)
from elmband.estimators._clusters import (
    Spread,
    check_collection,
    collection_rows,
    refuse_on_cluster,
    scan_on_workers,
)
from elmband.estimators._parameters import check_chunk_size, draw_seed, rows_at_once
from elmband.estimators._scans import (
    check_training_scan,
    refuse_beside_groups,
    refuse_beside_scan,
    scan_rows,
    transform_of,
)
from elmband.estimators.tables import EncodedRows
from elmband.ground.arrays import product_dtype
from elmband.models.fitted import Fitted, Inputs, Roles, Training
from elmband.sources import device
from elmband.sources.encode import EncoderState
from elmband.sources.stream import Scan
from elmband.sums.copies import merged_copies
from elmband.sums.moments import Chunk
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, ArrayRows, Rows
from elmband.uncertainty.classes import Classes
from elmband.uncertainty.transform import Transform, fit_transform


class Opened(NamedTuple):
    """Rows to train on, with the groups of rows in memory, and what is known of them."""

    rows: Rows
    labels: np.ndarray[Any, Any] | None
    inputs: Inputs
    training: Training
    transform: Transform
    single_output: bool
    precision: Any
    classes: Classes | None


def open_rows(
    model: Any, X: Any, y: Any, weight: Any, groups: Any, task: ClassTask | None = None
) -> Opened:
    """Check the rows of a fit, of classes where there is a `task`, and note what they are like."""
    names = _roles(X.scan if isinstance(X, Spread) else X, y, weight, groups)
    if isinstance(X, Scan | Spread):
        found = _of_scan(model, X, y, weight, groups, task)
    elif is_dask(X):
        found = _of_collection(model, X, y, weight, groups, task)
    else:
        found = _of_memory(model, X, y, weight, groups, task)
    n_groups = None if found.labels is None else len(np.unique(found.labels))
    return found._replace(training=found.training._replace(n_groups=n_groups, roles=names))


def _of_memory(
    model: Any, X: Any, y: Any, weight: Any, groups: Any, task: ClassTask | None
) -> Opened:
    classes, name = None, _name_of(y)
    if task is not None and y is not None:
        classes, y, weight = encode_labels(task, y, weight)
    where = device.resolve(model.device)
    encoder = X.encoder.state_ if isinstance(X, EncodedRows) else None
    checked = training_rows(model, X, y, weight, finite=where is None)
    labels = None if groups is None else check_labels(groups, checked.n_given, checked.kept)
    seed = engine.seed_of_job(draw_seed(model.random_state))
    size = rows_at_once(model, where, checked.X)
    dtype = product_dtype(checked.X, model.precision)
    transform = fit_transform(model.target_transform, checked.Y, checked.s)
    there = Chunk(checked.X, transform.forward(checked.Y), checked.s)
    # Rows with labels are left out with these, whatever they are copies of.
    there = merged_copies(there) if labels is None else there
    rows: Rows = ArrayRows.of(there, size)
    if classes is not None and encoder is not None:
        encoder = classes_in_encoder(encoder, classes, name)
    rows, dtype = moved(model, rows, where, dtype)
    training = Training(dtype, seed, where)
    inputs = _inputs(model, encoder)
    single = checked.single_output
    return Opened(rows, labels, inputs, training, transform, single, model.precision, classes)


def _of_scan(
    model: Any, rows: Scan | Spread, y: Any, weight: Any, groups: Any, task: ClassTask | None
) -> Opened:
    scan = rows.scan if isinstance(rows, Spread) else rows
    refuse_beside_scan(y=y, sample_weight=weight, selection=model.selection)
    refuse_beside_groups(groups, client=rows if isinstance(rows, Spread) else None)
    check_training_scan(model, scan)
    encoder = None if scan.encoder is None else scan.encoder.state_
    seed = engine.seed_of_job(draw_seed(model.random_state))
    dtype = product_dtype(np.empty(0, scan.dtype), model.precision)
    transform = transform_of(model.target_transform)
    if model.chunk_size is not None:
        check_chunk_size(model.chunk_size, DEFAULT_CHUNK_SIZE)
    if task is None:
        _refuse_text(model, scan)
        found = EncodedTargets(None, scan.single_output, transformed(transform))
    else:
        found = encode_scan(task, rows, encoder, model.chunk_size)
    where, labels = None, None
    opened: Rows
    if isinstance(rows, Spread):
        refuse_on_cluster(device=model.device)
        opened = scan_on_workers(rows, found.prepare, dtype, model.chunk_size)
    else:
        where, whole = device.resolve(model.device), groups is not None
        opened = scan_rows(scan, found.prepare, dtype, model.chunk_size, whole=whole)
        if isinstance(opened, ArrayRows) and not whole:
            opened = ArrayRows.of(merged_copies(opened.whole()), opened.chunk_size)
        opened, dtype = moved(model, opened, where, dtype)
        labels = None if groups is None else check_labels(groups, len(opened))
    training = Training(dtype, seed, where)
    inputs = _inputs(model, encoder)
    single, classes = found.single_output, found.classes
    return Opened(opened, labels, inputs, training, transform, single, model.precision, classes)


def _of_collection(
    model: Any, X: Any, y: Any, weight: Any, groups: Any, task: ClassTask | None
) -> Opened:
    refuse_on_cluster(groups=groups, selection=model.selection, device=model.device)
    check_collection(model, X, reset=True)
    transform = transform_of(model.target_transform)
    if task is None:
        found = collected(X, y, weight)
        target = EncodedTargets(None, found.single_output, transformed(transform))
    else:
        y, target = encode_dask(task, y, weight)
        found = collected(X, y, weight)
    seed = engine.seed_of_job(draw_seed(model.random_state))
    dtype = product_dtype(np.empty(0, found.form.dtype), model.precision)
    rows = collection_rows(found, target.prepare, dtype, model.chunk_size)
    training, inputs = Training(dtype, seed), _inputs(model, None)
    single, classes = target.single_output, target.classes
    return Opened(rows, None, inputs, training, transform, single, model.precision, classes)


def _inputs(model: Any, encoder: EncoderState | None) -> Inputs:
    """Return what the checks of rows have noted of their columns."""
    return Inputs(model.n_features_in_, getattr(model, "feature_names_in_", None), encoder)


def _roles(X: Any, y: Any, weight: Any, groups: Any) -> Roles:
    """Look for names at a scan, or at columns of data frames; arrays have none."""
    if not isinstance(X, Scan):
        return Roles(_name_of(y), _name_of(weight), _name_of(groups))
    targets = X.target_names or ()
    target = targets[0] if len(targets) == 1 else None
    return Roles(target, X.weight_name, _name_of(groups))


def _name_of(column: Any) -> str | None:
    """Return the name of a column of pandas, Polars or Dask, whose arrays have keys for names."""
    is_series = any(kind.__name__ == "Series" for kind in type(column).__mro__)
    name = getattr(column, "name", None) if is_series else None
    # Polars calls columns without a name "".
    return str(name) if isinstance(name, str) and name else None


def transformed(transform: Transform) -> Callable[[Chunk], Chunk]:
    """Return what makes rows to learn from of rows that are read."""
    return partial(_transformed, transform=transform)


def _transformed(chunk: Chunk, transform: Transform) -> Chunk:
    return chunk._replace(Y=transform.forward(chunk.Y))


def _refuse_text(model: Any, scan: Scan) -> None:
    """Refuse a scan whose target is text, which is for classifiers."""
    levels = None if scan.encoder is None else scan.encoder.target_levels_
    if levels is not None and levels.dtype.kind == "U":
        raise ValueError(
            f"The target of {scan!r} is text, such as {str(levels[0])!r}, and "
            f"{type(model).__name__} learns numbers: make it numbers, or train a classifier."
        )


def moved(model: Any, rows: Rows, where: Any, dtype: Any) -> tuple[Rows, Any]:
    """Return rows to train on where they are worked on, and the dtype there."""
    if where is None:
        return rows, dtype
    device.check_movable(rows.like)
    size = rows_at_once(model, where, rows.like, read=not rows.in_memory)
    return device.on_device(rows, where, dtype, size)


def count_targets(fitted: Fitted) -> int:
    """Return how many targets a scan must have: one of classes, unless rows have several labels."""
    classes = fitted.classes
    if classes is None:
        return fitted.targets.count
    return len(classes.labels) if classes.multilabel else 1
