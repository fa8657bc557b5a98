"""Targets that are classes, learned as +1 and -1."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d

from elmband.engines import engine
from elmband.engines.cluster import as_it_is, is_dask, label_rows, numbered, one_column
from elmband.estimators._clusters import Spread, scan_on_workers
from elmband.estimators._growing import GrowingModel
from elmband.estimators._roles import Roles
from elmband.estimators._scans import check_new_scan, scan_rows
from elmband.ground.arrays import to_numpy
from elmband.sources.encode import EncoderState
from elmband.sources.encode.target import TargetLevels
from elmband.sources.stream import Scan
from elmband.sums.moments import Chunk
from elmband.sums.rows import Rows
from elmband.uncertainty.classes import Classes, ClassWeight, LabelCounts, Labels


class CodedModel(GrowingModel):
    """A model of numbers that learns classes."""

    class_weight: ClassWeight
    _classes: Classes
    # Classes that the first of several parts of the rows may lack.
    _declared: Labels | None = None

    @property
    def classes_(self) -> Labels:
        """The classes in their order; numbers of columns where targets are several labels."""
        if not hasattr(self, "_classes"):
            raise AttributeError("classes_ exists once the model is fitted.")
        return self._classes.labels

    def _training(self, X: Any, y: Any, weight: Any, groups: Any) -> tuple[Rows, Any]:
        if isinstance(X, Scan) or y is None or is_dask(X):
            return super()._training(X, y, weight, groups)
        name = Roles.of(None, y).target
        y = labels_of(y)
        self._classes = self._found(y, weight)
        if weight is not None and self._declared is None and y.ndim == 1:
            # A class that has no rows but of weight zero is none: these are left out, as any.
            y = np.where(np.isin(y, self.classes_), y, self.classes_[0])
        found = super()._training(X, *self._coded(y, weight), groups)
        self._note_levels(name)
        return found

    def _note_levels(self, name: str | None) -> None:
        """Let the encoder of a table know classes that are text or booleans, as that of a scan."""
        state, levels = self._encoder_state, tuple(self.classes_.tolist())
        if state is not None and all(isinstance(level, str | bool) for level in levels):
            self._encoder_state = replace(state, target=TargetLevels(name or "", levels))

    def _training_collection(self, X: Any, y: Any, weight: Any, groups: Any) -> Rows:
        y = one_column(y)
        if y.ndim == 2:
            self._classes = self._columns(int(y.shape[1]))
        else:
            labels = label_rows(y, weight, labels_in_block)
            found = engine.total(labels, _counted, "classes")
            self._classes = Classes.counted(found, self.class_weight)
            y = self._numbered(y, some=weight is not None)
        rows = super()._training_collection(X, y, weight, groups)
        self._single_output = self._classes.single_output
        return rows

    def _prepare_block(self, chunk: Chunk) -> Chunk:
        if self._classes.multilabel:
            return self._prepare(chunk)
        return self._classes.prepare(chunk._replace(Y=self._labels_at(chunk.Y)))

    def _numbered(self, y: Any, *, some: bool = False) -> Any:
        """Return the places of labels of a Dask collection; with `some`, others may weigh none."""
        return numbered(y, partial(_places, classes=self._classes, some=some))

    def _labels_at(self, places: Any) -> Labels:
        """Return the labels again."""
        labels: Labels = self.classes_[places.astype(np.int64)]
        return labels

    def _may_grow(self) -> bool:
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            raise AttributeError(
                "partial_fit needs weights of classes by number: 'balanced' needs all rows at once."
            )
        return super()._may_grow()

    @contextmanager
    def _declaring(self, classes: Any) -> Iterator[None]:
        """Let the classes of a first fit be these, whichever its rows have."""
        self._declared = None if classes is None else np.unique(labels_of(classes))
        if self._declared is not None and hasattr(self, "_targets"):
            self._check_declared(self._declared)
        try:
            yield
        finally:
            self._declared = None

    def _check_declared(self, labels: Labels) -> None:
        if not np.array_equal(labels, self.classes_):
            raise ValueError(
                f"classes are {labels.tolist()[:10]}, but the model was begun with "
                f"{self.classes_.tolist()[:10]}; name them with the first rows only."
            )

    def _found(self, y: Labels, weight: Any) -> Classes:
        """Return the classes of the rows of a first fit."""
        if y.ndim == 2:
            return self._columns(y.shape[1])
        if self._declared is not None:
            return Classes.named(self._declared, self.class_weight)
        # Weights that cannot be are refused with the other checks of them.
        s = None if weight is None else np.asarray(to_numpy(weight), dtype=np.float64)
        if s is not None and (s.shape != y.shape or not (s >= 0).all() or not s.any()):
            s = None
        return Classes.counted(LabelCounts.of(y, s), self.class_weight)

    def _columns(self, count: int) -> Classes:
        if self.class_weight is not None:
            raise ValueError("class_weight is for one label a row; leave it None for several.")
        return Classes(np.arange(count), multilabel=True)

    def _coded(self, y: Labels, weight: Any) -> tuple[Any, Any]:
        return self._classes.codes(y), self._classes.row_weights(y, weight)

    def _more_rows(self, X: Any, y: Any, weight: Any) -> Rows:
        if isinstance(X, Scan):
            check_new_scan(self, X)
            if levels_of(encoder_of(X)) != levels_of(self._encoder_state):
                raise ValueError(
                    f"{X!r} has an encoder that knows other classes than {type(self).__name__}; "
                    "give it the encoder of the model, as in scan(..., encoder=model.encoder_)."
                )
            return super()._more_rows(X, y, weight)
        if y is None:
            raise ValueError(f"{type(self).__name__} needs y, the labels of the rows.")
        return super()._more_rows(X, *self._coded(self._known(y), weight))

    def _known(self, y: Any) -> Labels:
        """Check labels beside those that the model knows."""
        labels = labels_of(y)
        if (labels.ndim == 2) != self._classes.multilabel:
            raise ValueError(
                "y must have as many dimensions as the y that the model was fitted on."
            )
        return labels

    @property
    def _n_targets(self) -> int:
        return len(self.classes_) if self._classes.multilabel else 1

    def _note_targets(self, rows: Scan | Spread) -> None:
        scan = rows.scan if isinstance(rows, Spread) else rows
        if scan.n_outputs > 1:
            self._classes = self._columns(scan.n_outputs)
        elif self._declared is not None:
            self._classes = Classes.named(self._declared, self.class_weight)
        else:
            found = engine.total(self._targets_of(rows), _counted, "classes")
            labels = named(found.labels, self._encoder_state)
            found = LabelCounts(labels, found.counts)
            self._classes = Classes.counted(found, self.class_weight)
        self._single_output = self._classes.single_output

    def _targets_of(self, rows: Scan | Spread) -> Rows:
        """Return the rows of a scan for a look at their targets."""
        if isinstance(rows, Spread):
            return scan_on_workers(rows, as_it_is, np.float64, self.chunk_size, features=False)
        return scan_rows(rows, as_it_is, np.float64, self.chunk_size)

    def _prepare(self, chunk: Chunk) -> Chunk:
        return self._classes.prepare(chunk._replace(Y=named(chunk.Y, self._encoder_state)))


def encoder_of(scan: Scan) -> EncoderState | None:
    """Return what makes numbers of a scan, its target included; None where it holds numbers."""
    return None if scan.encoder is None else scan.encoder.state_


def levels_of(state: EncoderState | None) -> tuple[Any, ...] | None:
    """Return the classes that an encoder has put numbers in place of, None for none."""
    return None if state is None or state.target is None else state.target.levels


def named(Y: Any, state: EncoderState | None) -> Labels:
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


def _places(y: Any, classes: Classes, *, some: bool) -> Any:
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
