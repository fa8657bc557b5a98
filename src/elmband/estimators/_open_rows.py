"""Rows to train on, of whatever kind, as chunks of numbers: the one way in of every fit.

Arrays, tables, scans and Dask collections are checked, encoded, coded as classes where these are
learned, transformed, and sent to where they are worked on.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device
from sklearn.utils.validation import check_is_fitted, validate_data

from elmband.engines import engine
from elmband.estimators._class_targets import (
    ClassTask,
    Coded,
    check_known_levels,
    classes_in_encoder,
    coded,
    coded_collection,
    coded_scan,
    coder,
    known_labels,
)
from elmband.estimators._clusters import (
    Spread,
    check_collection,
    collected,
    collection_rows,
    is_dask,
    refuse_on_cluster,
    scan_on_workers,
)
from elmband.estimators._placement import moved, rows_at_once
from elmband.estimators._scans import (
    check_chunk_size,
    check_new_scan,
    check_targets,
    check_training_scan,
    draw_seed,
    refuse_beside_groups,
    refuse_beside_scan,
    scan_rows,
    transform_of,
)
from elmband.estimators._tables import EncodedRows, inputs_of
from elmband.estimators._validate import (
    check_groups,
    check_labels,
    check_precision,
    held_out_rows,
    training_rows,
    with_weight,
)
from elmband.ground.arrays import namespace, product_dtype
from elmband.models.fitted import Fitted, Inputs, Roles, Training
from elmband.models.target_units import TargetUnits
from elmband.sources.device import resolve
from elmband.sources.encode import EncoderState
from elmband.sources.stream import Scan
from elmband.sums.copies import merged_copies
from elmband.sums.moments import Chunk
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, ArrayRows, Rows
from elmband.sums.scaling import Scaling
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

    def units(self, scaling: Scaling, **known: Any) -> TargetUnits:
        """Return the units of the targets, once their scale is known."""
        return TargetUnits(scaling, self.transform, self.single_output, self.precision, **known)


def open_rows(
    model: Any, X: Any, y: Any, weight: Any, groups: Any, task: ClassTask | None = None
) -> Opened:
    """Check the rows of a fit, of classes where there is a `task`, and note what they are like."""
    check_precision(model.precision)
    names = Roles.of(X.scan if isinstance(X, Spread) else X, y, weight, groups)
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
    classes, name = None, Roles.of(None, y).target
    if task is not None and y is not None:
        classes, y, weight = coded(task, y, weight)
    where = resolve(model.device)
    encoder = X.encoder.state_ if isinstance(X, EncodedRows) else None
    checked = training_rows(model, X, y, weight, finite=where is None)
    labels = check_groups(groups, checked)
    seed = engine.seed_of_job(draw_seed(model.random_state))
    dtype = product_dtype(checked.X, model.precision)
    transform = fit_transform(model.target_transform, checked.Y, checked.s)
    there = Chunk(checked.X, transform.forward(checked.Y), checked.s)
    # Rows with labels are left out with these, whatever they are copies of.
    there = merged_copies(there) if labels is None else there
    rows: Rows = ArrayRows.of(there, rows_at_once(model, where, checked.X))
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
        found = Coded(None, scan.single_output, transformed(transform))
    else:
        found = coded_scan(task, rows, encoder, model.chunk_size)
    where, labels = None, None
    opened: Rows
    if isinstance(rows, Spread):
        refuse_on_cluster(device=model.device)
        opened = scan_on_workers(rows, found.prepare, dtype, model.chunk_size)
    else:
        where, whole = resolve(model.device), groups is not None
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
        target = Coded(None, found.single_output, transformed(transform))
    else:
        y, target = coded_collection(task, y, weight)
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


def new_rows(model: Any, X: Any, method: str) -> Any:
    """Check rows to be answered: their features, and that their array library is that of fit."""
    check_is_fitted(model)
    if is_dask(X):
        raise ValueError(f"{method} takes arrays or a scan; X is a Dask collection.")
    fitted: Fitted = model.fitted_
    # A device checks numbers faster.
    finite = fitted.training.device is None
    if isinstance(X, Scan):
        check_new_scan(model, X)
    elif fitted.inputs.encoder is not None:
        X = inputs_of(model, X, method, finite=finite)
    else:
        X = validate_data(model, X, dtype="numeric", reset=False, ensure_all_finite=finite)
    if finite:
        like = np.empty((0, 1)) if isinstance(X, Scan) else X
        _check_same_library(model, like, fitted.targets.scaling.mean, method)
    return X


def _check_same_library(model: Any, X: Any, fitted: Any, method: str) -> None:
    """Refuse rows whose array library is not that of the training rows."""
    ours, theirs = namespace(fitted), namespace(X)
    if ours is not theirs or device(fitted) != device(X):
        raise ValueError(
            f"Inputs passed to {type(model).__name__}.{method}() must use the same namespace "
            f"and the same device as those passed to fit(): {ours.__name__} on {device(fitted)}; "
            f"these are {theirs.__name__} on {device(X)}."
        )


def more_rows(model: Any, X: Any, y: Any, weight: Any) -> Rows:
    """Check rows to train on beside those that a model knows."""
    fitted: Fitted = model.fitted_
    classes, training = fitted.classes, fitted.training
    if classes is not None and isinstance(X, Scan):
        check_new_scan(model, X)
        check_known_levels(model, X, fitted.inputs.encoder)
    elif classes is not None:
        if y is None:
            raise ValueError(f"{type(model).__name__} needs y, the labels of the rows.")
        labels = known_labels(y, classes)
        y, weight = classes.codes(labels), classes.row_weights(labels, weight)
    X = new_rows(model, X, "partial_fit")
    rows: Rows
    if isinstance(X, Scan):
        refuse_beside_scan(y=y, sample_weight=weight)
        check_targets(model, X, count_targets(fitted))
        prepare = transformed(fitted.targets.transform)
        if classes is not None:
            prepare = coder(classes, fitted.inputs.encoder)
        rows = scan_rows(X, prepare, training.dtype, model.chunk_size)
    else:
        X, Y, s = with_weight(X, *held_out_rows(X, y, weight, fitted.targets.count))
        rows = ArrayRows(X, Y, s, check_chunk_size(model.chunk_size, DEFAULT_CHUNK_SIZE))
    return moved(model, rows, training.device, training.dtype)[0]


def count_targets(fitted: Fitted) -> int:
    """Return how many targets a scan must have: one of classes, unless rows have several labels."""
    classes = fitted.classes
    if classes is None:
        return fitted.targets.count
    return len(classes.labels) if classes.multilabel else 1
