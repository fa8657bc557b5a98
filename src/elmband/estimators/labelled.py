"""Rows with known targets, to judge a fitted model on: the door for reports."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from elmband.estimators._arrays import held_out_rows
from elmband.estimators._class_targets import encoder_of, known_labels, labels_of_codes
from elmband.estimators._open_rows import count_targets
from elmband.estimators._scans import check_targets
from elmband.estimators.ask import new_rows
from elmband.ground.arrays import Array, Labels, to_numpy
from elmband.sources.stream import Scan

__all__ = ["count_targets", "labelled_arrays", "labelled_scan"]


def labelled_arrays(model: Any, X: Any, y: Any, method: str) -> tuple[Array, Labels]:
    """Return rows in memory as the model takes them, and targets as numbers or places of classes.

    The `method` is what a refusal says was asked for.
    """
    X = new_rows(model, X, method)
    classes = model.fitted_.classes
    if classes is None:
        return X, to_numpy(held_out_rows(X, y, None, 1)[0])[:, 0]
    labels = known_labels(y, classes)
    if len(labels) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y has {len(labels)}; they must be as many.")
    return X, np.asarray(classes.positions(labels))


def labelled_scan(model: Any, rows: Scan, method: str) -> tuple[Scan, Callable[[Labels], Labels]]:
    """Return a scan as the model takes it, and what makes numbers or places of its targets."""
    rows = new_rows(model, rows, method)
    check_targets(model, rows, 1)
    if model.fitted_.classes is None:
        return rows, np.asarray
    return rows, partial(_places, model.fitted_.classes, encoder_of(rows))


def _places(classes: Any, state: Any, y: Labels) -> Labels:
    return np.asarray(classes.positions(labels_of_codes(y, state)))
