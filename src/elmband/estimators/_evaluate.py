"""Rows with known targets: intervals and decisions evaluated by them, and calibrated on them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.engines import engine
from elmband.engines.cluster import is_dask, one_column
from elmband.estimators._arrays import held_out_rows, labels_of_rows
from elmband.estimators._class_targets import (
    encoder_of,
    known_labels,
    labels_at_positions,
    labels_of_codes,
    positions_in_dask,
)
from elmband.estimators._clusters import (
    Spread,
    check_collection,
    held_out_on_cluster,
    refuse_on_cluster,
    spread,
)
from elmband.estimators._parameters import check_chunk_size, rows_at_once
from elmband.estimators._progress import scan_progress
from elmband.estimators._scans import (
    check_new_scan,
    check_targets,
    read_rows,
    refuse_beside_scan,
    scan_rows,
)
from elmband.estimators.ask import Query, block_size, new_rows, on_chunks_of
from elmband.ground.arrays import Array, double, namespace, to_numpy
from elmband.metrics.decided import Decided, SelectiveEvaluation
from elmband.metrics.evaluation import Evaluation
from elmband.metrics.streaming import IntervalSums, interval_sums
from elmband.models.classes import answer
from elmband.models.fitted import Fitted
from elmband.models.intervals import check_levels, deviation, intervals, mean_in_units
from elmband.models.question import Question, fields
from elmband.models.thresholds import ScoredRows, Thresholds, positive_place
from elmband.sources import device
from elmband.sources.stream import Scan
from elmband.sums.moments import Chunk
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, ArrayRows, chunk_slices
from elmband.uncertainty.calibrate import Calibration, ScoreBins, row_scores, score_bins
from elmband.uncertainty.noise.parts import Parts
from elmband.uncertainty.targets import values_range


def evaluated(
    model: Any, X: Any, y: Any, weight: Any, confidence_level: Any, client: Any
) -> Evaluation:
    """Judge the intervals of a model by rows of any number."""
    levels = check_levels(confidence_level)
    rows = _labelled_rows(model, X, y, weight, client, "evaluate")
    with scan_progress(model, X):
        summed = partial(_interval_sums, fitted=model.fitted_, levels=levels.values)
        return engine.total(rows, summed, "evaluate").summary()


def _interval_sums(chunk: Chunk, fitted: Fitted, levels: tuple[float, ...]) -> IntervalSums:
    X, parts = chunk.X, fitted.totals(chunk.X)
    mean, std = mean_in_units(fitted, parts, X), deviation(fitted, parts, X)
    return interval_sums(chunk.Y, mean, std, intervals(fitted, parts, levels, X), chunk.s, levels)


def calibrated(model: Any, X: Any, y: Any, weight: Any, groups: Any, client: Any) -> Fitted:
    """Return a model with the multipliers of split conformal prediction on held-out rows.

    Scores of a scan and of a cluster are counted in bins; groups need all rows at once.
    """
    choice, on_cluster = model.target_transform, is_dask(X) or client is not None
    if on_cluster:
        refuse_on_cluster(groups=groups)
    if on_cluster or (isinstance(X, Scan) and groups is None):
        rows = _labelled_rows(model, X, y, weight, client, "calibrate")
        bins = partial(_score_bins, fitted=model.fitted_, choice=choice)
        with scan_progress(model, X):
            scores = engine.total(rows, bins, "calibrate").scores()
        return _guaranteed(model.fitted_, Calibration("conformal", scores))
    X = new_rows(model, X, "calibrate")
    fitted: Fitted = model.fitted_
    if isinstance(X, Scan):
        refuse_beside_scan(y=y, sample_weight=weight)
        check_targets(model, X, fitted.targets.count)
        whole = scan_rows(X, lambda chunk: chunk, np.float64, model.chunk_size, whole=True)
        X, y, weight = whole.whole()
    Y, s = held_out_rows(X, y, weight, fitted.targets.count)
    parts = Query(fitted, _TOTALS, block_size(model, X))(X)
    e = _errors(fitted, choice, Y, parts)
    s = namespace(e).ones_like(e[:, 0]) if s is None else s
    scored = row_scores(e, (parts.total, parts.above, parts.below), s)
    if groups is None:
        return _guaranteed(fitted, Calibration("conformal", scored.outputs()))
    labels = labels_of_rows(groups, len(scored.s))
    return _guaranteed(fitted, Calibration("conformal", scored.of_groups(labels), "groups"))


_TOTALS = Question("calibrate", Fitted.totals, fields, kind=Parts)


def _score_bins(chunk: Chunk, fitted: Fitted, choice: Any) -> ScoreBins:
    parts = fitted.totals(chunk.X)
    variances = (parts.total, parts.above, parts.below)
    return score_bins(_errors(fitted, choice, chunk.Y, parts), variances, chunk.s)


def _errors(fitted: Fitted, choice: Any, Y: Array, parts: Parts) -> Array:
    """Return the errors of standardised, transformed targets."""
    units = fitted.targets
    return units.standardised(units.in_domain(Y, choice)) - double(parts.mean)


def _guaranteed(fitted: Fitted, calibration: Calibration) -> Fitted:
    """Take multipliers with a guarantee, which is for all values, those yet unseen as well."""
    units = fitted.targets
    if units.values is not None and units.range is not None:
        pairs = zip(units.values, units.range, strict=True)
        units = replace(units, range=tuple(values_range(*pair) for pair in pairs))
    return replace(fitted, targets=replace(units, values=None), calibration=calibration)


def _labelled_rows(model: Any, X: Any, y: Any, weight: Any, client: Any, method: str) -> Any:
    """Return rows with targets, of any kind, where they are worked on."""
    check_is_fitted(model)
    n_outputs = model.fitted_.targets.count
    if is_dask(X):
        check_collection(model, X, reset=False)
        return held_out_on_cluster(spread(X, client), y, weight, n_outputs, model.chunk_size)
    X = new_rows(model, X, method)
    if isinstance(X, Scan):
        refuse_beside_scan(y=y, sample_weight=weight)
        check_targets(model, X, n_outputs)
    if client is not None:
        return held_out_on_cluster(spread(X, client), y, weight, n_outputs, model.chunk_size)
    if isinstance(X, Scan):
        return evaluation_rows(model, X)
    Y, s = held_out_rows(X, y, weight, n_outputs)
    size = check_chunk_size(model.chunk_size, DEFAULT_CHUNK_SIZE)
    return evaluation_rows(model, ArrayRows(X, Y, s, size))


def evaluation_rows(model: Any, rows: Any) -> Any:
    """Return labelled rows or a scan where a fitted model works on them."""
    where, dtype = model.fitted_.training.device, model.fitted_.training.dtype
    if isinstance(rows, Scan) and where is None:
        return read_rows(rows, lambda chunk: chunk, np.float64, rows.chunk_size)
    if where is None:
        return rows
    if isinstance(rows, Scan):
        rows = scan_rows(rows, lambda chunk: chunk, np.float64, model.chunk_size)
    size = rows_at_once(model, where, rows.like, read=not rows.in_memory)
    return device.on_device(rows, where, dtype, size)[0]


def scored_rows(model: Any, X: Any, y: Any, weight: Any, groups: Any) -> ScoredRows:
    """Return scores, called and true classes of held-out rows, with unequal weights."""
    with on_chunks_of(model, X, "calibrate") as on_chunks:
        rows = _labelled(model, X, y, "calibrate", weight)
        found = list(on_chunks(partial(_scored_weighted, model.fitted_), rows))
    score, called, true, s = map(np.concatenate, zip(*found, strict=True))
    weights = s if np.any(s != s[:1]) else None
    if not np.any(s > 0):
        raise ValueError("There are no rows with a weight above zero to promise anything by.")
    labels = None if groups is None else labels_of_rows(groups, len(score))
    return ScoredRows(score, called, true, weights, labels)


def _scored_weighted(fitted: Fitted, rows: Chunk) -> tuple[Any, Any, Any, Any]:
    found = _scored(fitted, rows)
    s = np.ones(len(found[0])) if rows.s is None else np.asarray(to_numpy(rows.s), np.float64)
    return (*found, s)


def _scored(fitted: Fitted, rows: Chunk) -> tuple[Any, Any, Any]:
    assert fitted.deciding is not None
    assert fitted.classes is not None
    found = answer(fitted, rows.X)
    return fitted.deciding.confidence(found), found.place, fitted.classes.positions(rows.Y)


def _labelled(model: Any, X: Any, y: Any, method: str, weight: Any) -> Iterator[Chunk]:
    """Return blocks of rows with known labels."""
    X = new_rows(model, X, method)
    fitted: Fitted = model.fitted_
    fitted.check_fresh()
    if isinstance(X, Scan):
        refuse_beside_scan(y=y, sample_weight=weight)
        check_targets(model, X, 1)
        state = encoder_of(X)
        return (chunk._replace(Y=labels_of_codes(chunk.Y, state)[:, 0]) for chunk in X.chunks())
    assert fitted.classes is not None
    labels, n = known_labels(y, fitted.classes), int(X.shape[0])
    if len(labels) != n:
        raise ValueError(f"X has {n} rows, y has {len(labels)}; they must be as many.")
    s = None if weight is None else np.asarray(to_numpy(weight), dtype=np.float64)
    if s is not None and (s.shape != (n,) or not np.all((s >= 0) & np.isfinite(s))):
        raise ValueError(
            f"sample_weight must have one number of at least 0 for each of the {n} rows."
        )
    parts = chunk_slices(n, check_chunk_size(model.chunk_size, DEFAULT_CHUNK_SIZE))
    return (Chunk(X[p, :], labels[p], None if s is None else s[p]) for p in parts)


def decided_rows(
    model: Any, X: Any, y: Any, weight: Any, thresholds: Thresholds, client: Any
) -> SelectiveEvaluation:
    """Judge the decisions of a classifier that abstains by rows of any number."""
    X, fitted = spread(X, client), model.fitted_
    cells = partial(_cells, fitted=fitted, thresholds=thresholds)
    if is_dask(X) or isinstance(X, Spread):
        found = _summed(model, X, y, cells, weight)
    else:
        with on_chunks_of(model, X, "evaluate") as on_chunks:
            found = engine.reduced(on_chunks(cells, _labelled(model, X, y, "evaluate", weight)))
    return SelectiveEvaluation.of(found, positive_place(model.pos_label, fitted.classes.labels))


def _cells(rows: Chunk, fitted: Fitted, thresholds: Thresholds) -> Decided:
    """Count rows by true class, class called, and whether they are answered."""
    assert fitted.classes is not None
    count = len(fitted.classes.labels)
    score, called, true = _scored(fitted, rows)
    cell = (true * count + called) * 2 + thresholds.accepted(score, called)
    counts = np.bincount(cell, rows.s, 2 * count**2)
    return Decided(counts.reshape(count, count, 2).astype(np.float64))


def _summed(model: Any, X: Any, y: Any, function: Callable[[Chunk], Any], weight: Any) -> Any:
    """Return what `function` adds up to over the rows of a cluster."""
    check_is_fitted(model)
    fitted: Fitted = model.fitted_
    fitted.check_fresh()
    assert fitted.classes is not None
    label: Callable[[Any], Any] = partial(labels_at_positions, classes=fitted.classes)
    if isinstance(X, Spread):
        refuse_beside_scan(y=y, sample_weight=weight)
        check_new_scan(model, X.scan)
        check_targets(model, X.scan, 1)
        label = partial(labels_of_codes, state=encoder_of(X.scan))
    else:
        check_collection(model, X, reset=False)
        y = positions_in_dask(one_column(y), fitted.classes)
    rows = held_out_on_cluster(X, y, weight, 1, model.chunk_size)
    with scan_progress(model, X.scan if isinstance(X, Spread) else X):
        return engine.total(rows, partial(_relabelled, function=function, label=label), "evaluate")


def _relabelled(chunk: Chunk, function: Callable[[Chunk], Any], label: Callable[[Any], Any]) -> Any:
    return function(chunk._replace(Y=label(chunk.Y)[:, 0]))
