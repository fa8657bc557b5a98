"""Targets that are classes, learned as +1 and -1."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_array, column_or_1d

from elmband import engine
from elmband._arrays import to_numpy
from elmband.classes import Classes, ClassWeight, LabelCounts, Labels
from elmband.estimators._growing import GrowingModel
from elmband.estimators._scans import scan_rows
from elmband.moments import Chunk
from elmband.rows import Rows
from elmband.stream import Scan


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
        if isinstance(X, Scan) or y is None:
            return super()._training(X, y, weight, groups)
        y = labels_of(y)
        self._classes = self._found(y, weight)
        return super()._training(X, *self._coded(y, weight), groups)

    def _may_grow(self) -> bool:
        if self.class_weight == "balanced":
            raise AttributeError(
                "partial_fit needs weights of classes by number: 'balanced' needs all rows at once."
            )
        return super()._may_grow()

    @contextmanager
    def _declaring(self, classes: Any) -> Iterator[None]:
        """Let the classes of a first fit be these, whichever its rows have."""
        self._declared = None if classes is None else np.unique(np.asarray(classes))
        try:
            yield
        finally:
            self._declared = None

    def _found(self, y: Labels, weight: Any) -> Classes:
        """Return the classes of the rows of a first fit."""
        if y.ndim == 2:
            return self._columns(y.shape[1])
        if self._declared is not None:
            return Classes.named(self._declared, self.class_weight)
        # Weights that cannot be are refused with the other checks of them.
        s = None if weight is None else np.asarray(to_numpy(weight), dtype=np.float64)
        if s is not None and (s.shape != y.shape or not s.any()):
            s = None
        return Classes.counted(LabelCounts.of(y, s), self.class_weight)

    def _columns(self, count: int) -> Classes:
        if self.class_weight is not None:
            raise ValueError("class_weight is for one label a row; leave it None for several.")
        return Classes(np.arange(count), multilabel=True)

    def _coded(self, y: Labels, weight: Any) -> tuple[Any, Any]:
        return self._classes.codes(y), self._classes.row_weights(y, weight)

    def _more_rows(self, X: Any, y: Any, weight: Any) -> Rows:
        if isinstance(X, Scan) or y is None:
            return super()._more_rows(X, y, weight)
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

    def _note_targets(self, scan: Scan) -> None:
        if scan.n_outputs > 1:
            self._classes = self._columns(scan.n_outputs)
        elif self._declared is not None:
            self._classes = Classes.named(self._declared, self.class_weight)
        else:
            rows = scan_rows(scan, lambda chunk: chunk, np.float64, self.chunk_size)
            found = engine.total(rows, _counted, "classes")
            self._classes = Classes.counted(found, self.class_weight)
        self._single_output = self._classes.single_output

    def _prepare(self, chunk: Chunk) -> Chunk:
        return self._classes.prepare(chunk)


def _counted(chunk: Chunk) -> LabelCounts:
    return LabelCounts.of(to_numpy(chunk.Y)[:, 0], chunk.s)


def labels_of(y: Any) -> Labels:
    """Check labels: (n,) of any kind, or columns (n, k) of 0 and 1."""
    y = to_numpy(y) if is_array_api_obj(y) else y
    if getattr(y, "dtype", np.dtype(object)).kind == "f":
        check_array(y, ensure_2d=False, input_name="y")
    check_classification_targets(y)
    if type_of_target(y) == "multilabel-indicator":
        return np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    labels: Labels = np.asarray(column_or_1d(y, warn=True))
    return labels
