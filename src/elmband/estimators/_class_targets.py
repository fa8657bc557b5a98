"""Targets that are classes, learned as +1 and -1."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d

from elmband.engines import engine
from elmband.engines.cluster import as_it_is, label_rows, numbered, one_column
from elmband.estimators._clusters import Spread, scan_on_workers
from elmband.estimators._scans import scan_rows
from elmband.ground.arrays import to_numpy
from elmband.sources.encode import EncoderState
from elmband.sources.encode.target import TargetLevels
from elmband.sources.stream import Scan
from elmband.sums.moments import Chunk
from elmband.uncertainty.classes import Classes, ClassWeight, LabelCounts, Labels


@dataclass(frozen=True, eq=False)
class ClassTask:
    """What is asked of labels: weights of classes, and classes that the first rows may lack.

    Rows may have `several` labels, or a single one only.
    """

    class_weight: ClassWeight
    declared: Labels | None = None
    several: bool = True

    def columns(self, count: int) -> Classes:
        """Return the classes of targets that are columns of labels."""
        if not self.several:
            raise ValueError(
                f"y has {count} labels a row, each of them a decision: train a model each."
            )
        if self.class_weight is not None:
            raise ValueError("class_weight is for one label a row; leave it None for several.")
        return Classes(np.arange(count), multilabel=True)

    def found(self, y: Labels, weight: Any) -> Classes:
        """Return the classes of rows in memory."""
        if y.ndim == 2:
            return self.columns(y.shape[1])
        if self.declared is not None:
            return Classes.named(self.declared, self.class_weight)
        # Weights that cannot be are refused with the other checks of them.
        s = None if weight is None else np.asarray(to_numpy(weight), dtype=np.float64)
        if s is not None and (s.shape != y.shape or not (s >= 0).all() or not s.any()):
            s = None
        return Classes.counted(LabelCounts.of(y, s), self.class_weight)


class EncodedTargets(NamedTuple):
    """Classes, None of numbers, and what makes rows to learn from of rows that are read."""

    classes: Classes | None
    single_output: bool
    prepare: Callable[[Chunk], Chunk]


def encode_labels(task: ClassTask, y: Any, weight: Any) -> tuple[Classes, Any, Any]:
    """Return the classes of rows in memory, their codes ±1, and weights of rows."""
    y = labels_of(y)
    classes = task.found(y, weight)
    if weight is not None and task.declared is None and y.ndim == 1:
        # A class that has no rows but of weight zero is none: these are left out, as any.
        y = np.where(np.isin(y, classes.labels), y, classes.labels[0])
    return classes, classes.codes(y), classes.row_weights(y, weight)


def encode_scan(
    task: ClassTask, rows: Scan | Spread, encoder: EncoderState | None, chunk_size: int | None
) -> EncodedTargets:
    """Return the classes of a scan, which takes a look at its targets."""
    scan = rows.scan if isinstance(rows, Spread) else rows
    if scan.n_outputs > 1:
        classes = task.columns(scan.n_outputs)
    elif task.declared is not None:
        classes = Classes.named(task.declared, task.class_weight)
    else:
        if isinstance(rows, Spread):
            targets: Any = scan_on_workers(rows, as_it_is, np.float64, chunk_size, features=False)
        else:
            targets = scan_rows(rows, as_it_is, np.float64, chunk_size)
        found = engine.total(targets, _counted, "classes")
        found = LabelCounts(labels_of_codes(found.labels, encoder), found.counts)
        classes = Classes.counted(found, task.class_weight)
    return EncodedTargets(classes, classes.single_output, label_encoder(classes, encoder))


def encode_dask(task: ClassTask, y: Any, weight: Any) -> tuple[Any, EncodedTargets]:
    """Return the targets of Dask collections as numbers, and their classes."""
    y = one_column(y)
    if y.ndim == 2:
        classes = task.columns(int(y.shape[1]))
        return y, EncodedTargets(classes, classes.single_output, label_encoder(classes, None))
    found = engine.total(label_rows(y, weight, labels_in_block), _counted, "classes")
    classes = Classes.counted(found, task.class_weight)
    y = positions_in_dask(y, classes, some=weight is not None)
    return y, EncodedTargets(
        classes, classes.single_output, partial(_from_positions, classes=classes)
    )


def label_encoder(classes: Classes, encoder: EncoderState | None) -> Callable[[Chunk], Chunk]:
    """Return what makes codes ±1 of the targets of a scan."""
    return partial(_prepared, classes=classes, encoder=encoder)


def _prepared(chunk: Chunk, classes: Classes, encoder: EncoderState | None) -> Chunk:
    return classes.prepare(chunk._replace(Y=labels_of_codes(chunk.Y, encoder)))


def _from_positions(chunk: Chunk, classes: Classes) -> Chunk:
    return classes.prepare(chunk._replace(Y=labels_at_positions(chunk.Y, classes)))


def positions_in_dask(y: Any, classes: Classes, *, some: bool = False) -> Any:
    """Return the places of labels of a Dask collection; with `some`, others may weigh none."""
    return numbered(y, partial(_positions, classes=classes, some=some))


def labels_at_positions(places: Any, classes: Classes) -> Labels:
    """Return the labels at places, as numbers."""
    labels: Labels = classes.labels[places.astype(np.int64)]
    return labels


def classes_in_encoder(state: EncoderState, classes: Classes, name: str | None) -> EncoderState:
    """Let the encoder of a table know classes that are text or booleans, as that of a scan."""
    levels = tuple(classes.labels.tolist())
    if not all(isinstance(level, str | bool) for level in levels):
        return state
    return replace(state, target=TargetLevels(name or "", levels))


def known_labels(y: Any, classes: Classes) -> Labels:
    """Check labels beside those that a model knows."""
    if y is None:
        raise ValueError("y is needed: the labels of the rows.")
    labels = labels_of(y)
    if (labels.ndim == 2) != classes.multilabel:
        raise ValueError("y must have as many dimensions as the y that the model was fitted on.")
    return labels


def declared_classes(classes: Any, known: Classes | None) -> Labels | None:
    """Return classes that rows may lack; refuse others than those that a model was begun with."""
    if classes is None:
        return None
    declared: Labels = np.unique(labels_of(classes))
    if known is not None and not np.array_equal(declared, known.labels):
        raise ValueError(
            f"classes are {declared.tolist()[:10]}, but the model was begun with "
            f"{known.labels.tolist()[:10]}; name them with the first rows only."
        )
    return declared


def check_known_levels(model: Any, scan: Scan, encoder: EncoderState | None) -> None:
    """Refuse a scan whose labels are not those of a model."""
    if levels_of(encoder_of(scan)) != levels_of(encoder):
        raise ValueError(
            f"{scan!r} has an encoder that knows other classes than {type(model).__name__}; "
            "give it the encoder of the model, as in scan(..., encoder=model.encoder_)."
        )


def encoder_of(scan: Scan) -> EncoderState | None:
    """Return what makes numbers of a scan, its target included; None where it holds numbers."""
    return None if scan.encoder is None else scan.encoder.state_


def levels_of(state: EncoderState | None) -> tuple[Any, ...] | None:
    """Return the classes that an encoder has put numbers in place of, None for none."""
    return None if state is None or state.target is None else state.target.levels


def labels_of_codes(Y: Any, state: EncoderState | None) -> Labels:
    """Return targets of a scan as labels, which its encoder has put numbers in place of."""
    levels, codes = levels_of(state), to_numpy(Y)
    return codes if levels is None else np.asarray(levels)[codes.astype(np.int64)]


def _counted(chunk: Chunk) -> LabelCounts:
    return LabelCounts.of(to_numpy(chunk.Y)[:, 0], chunk.s)


def labels_in_block(y: Any) -> Labels:
    """Check the labels (n,) of one block of a Dask collection, whatever those of others are."""
    labels = np.asarray(y)
    if labels.dtype.kind == "O":
        labels = _of_one_type(labels)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("y holds missing or infinite labels; fill them in")
    return labels


def _positions(y: Any, classes: Classes, *, some: bool) -> Any:
    """Return the places of labels among classes, (n,) of float.

    With `some`, a label that is none of them is one of rows that weigh nothing and are left out.
    """
    labels = labels_in_block(y)
    if some:
        labels = np.where(np.isin(labels, classes.labels), labels, classes.labels[0])
    return classes.positions(labels).astype(np.float64)


def labels_of(y: Any) -> Labels:
    """Check labels: (n,) of any kind, or columns (n, k) of 0 and 1."""
    if isinstance(y, Real | str):
        raise ValueError(f"y must have one label for every row of X; got {y!r}.")
    y = y.toarray() if hasattr(y, "toarray") else y
    given = to_numpy(y) if is_array_api_obj(y) else y
    values = check_array(given, ensure_2d=False, dtype=None, input_name="y")
    if values.dtype.kind == "O":
        values = _of_one_type(values)
    check_classification_targets(values)
    if type_of_target(values) == "multilabel-indicator":
        return np.asarray(values)
    labels: Labels = np.asarray(column_or_1d(values, warn=True))
    return labels


def _of_one_type(values: Labels) -> Labels:
    """Return objects as what they are: text, or numbers of one kind."""
    types = {type(value) for value in values.reshape(-1)}
    if all(issubclass(kind, str) for kind in types):
        return values
    if len(types) > 1:
        raise ValueError("y holds missing labels or mixes types; convert them.")
    return np.asarray(values.tolist())
