"""What a classifier that abstains is asked for, and what it promises."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.engines import engine
from elmband.engines.cluster import one_column
from elmband.estimators._class_targets import encoder_of, named
from elmband.estimators._clusters import (
    Spread,
    check_collection,
    held_out_on_cluster,
)
from elmband.estimators._request import WISHES
from elmband.estimators._scans import (
    answering,
    check_new_scan,
    check_targets,
    judging,
    refuse_beside_scan,
)
from elmband.estimators._selective_fit import Abstaining
from elmband.estimators._thresholds import Known, Thresholds
from elmband.estimators._validate import check_chunk_size, check_levels, labels_of_rows
from elmband.ground.arrays import to_numpy
from elmband.sources.stream import Scan
from elmband.sums.moments import Chunk
from elmband.sums.rows import DEFAULT_CHUNK_SIZE, chunk_slices
from elmband.uncertainty.classes import Labels
from elmband.uncertainty.promise import Threshold


class Promising(Abstaining):
    """Thresholds of `ELMSelectiveClassifier`."""

    @property
    def has_thresholds(self) -> bool:
        """Whether anything says which rows to answer."""
        return self._thresholds is not None

    @property
    def thresholds_(self) -> dict[Any, Threshold | None]:
        """The threshold of every class; None for a class that is always answered."""
        chosen = self._chosen_or_missing()
        return dict(zip(self.classes_.tolist(), chosen.by_class, strict=True))

    @property
    def statement_(self) -> str:
        """What can be relied on, in words."""
        return self._chosen_or_missing().statement(self.classes_)

    def _chosen_or_missing(self) -> Thresholds:
        """Return the thresholds for an attribute, which may be missing but not fail otherwise."""
        try:
            return self._chosen()
        except ValueError as error:
            raise AttributeError(str(error)) from error

    def _chosen(self) -> Thresholds:
        check_is_fitted(self)
        self._check_fresh()
        if self._thresholds is None:
            raise ValueError(
                "Nothing says which rows to answer: ask for a coverage, max_error, max_fpr or "
                "min_precision, as in choose(coverage=0.5)."
            )
        return self._thresholds

    def choose(
        self,
        *,
        coverage: float | None = None,
        max_error: float | None = None,
        max_fpr: float | None = None,
        min_precision: float | None = None,
        per_class: bool | None = None,
        pos_label: Any = None,
    ) -> Self:
        """Ask for something else, as in ``choose(max_error=0.01)``, without a new fit.

        Thresholds come from the rows of `calibrate`, or else from training rows left out. A
        promise holds for one wish; do not try several and keep the best. `per_class` and
        `pos_label` stay as they are where they are not given.
        """
        check_is_fitted(self)
        self._check_fresh()
        numbers = (coverage, max_error, max_fpr, min_precision)
        asked: dict[str, Any] = dict(zip(WISHES, numbers, strict=True))
        if all(number is None for number in numbers):
            raise ValueError(f"choose needs one of {', '.join(WISHES)}, as in coverage=0.5.")
        others = {"per_class": per_class, "pos_label": pos_label}
        asked |= {name: value for name, value in others.items() if value is not None}
        self._decide(self._request(**asked), self._held_out)
        for name, value in asked.items():
            setattr(self, name, value)
        return self

    def calibrate(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        *,
        groups: Any = None,
        confidence_level: float = 0.95,
    ) -> Self:
        """Turn the threshold into a promise, by held-out rows that training did not see.

        With probability `confidence_level` over the draw of these rows, the risk that was asked
        for is kept on new rows of the same kind. Rows of a group (a photo, a patient) are not
        independent: with `groups` the groups are counted, and the promise is for the average
        group of those with an answered row. Too few rows for the promise are refused with the
        number that is needed, and the model stays as it was. A coverage is no risk, and stays an
        estimate.

        Of all promises made with 90 % confidence up to a tenth may be broken, and more of those
        that were tried for again and again, with other limits, models or rows, until one was made.

        X and y are arrays, or X is a scan; `groups` has one label for each row. A row of weight s
        counts as s rows in every share, but as one row of evidence at the most: a common factor of
        `sample_weight` changes nothing. Some ten bytes are kept for each row, for `choose`.
        """
        levels = check_levels(confidence_level)
        if not levels.single:
            raise ValueError("calibrate takes a single confidence_level.")
        rows = self._judged_rows(X, y, sample_weight, groups).small(len(self.classes_))
        self._decide(self._request(), (rows, levels.values[0]))
        return self

    def _judged_rows(self, X: Any, y: Any, weight: Any, groups: Any) -> Known:
        """Return scores, called and true classes of held-out rows, with unequal weights."""
        with answering(self, X, "calibrate") as on_chunks:
            found = list(
                on_chunks(self._judged_weighted, self._labelled(X, y, "calibrate", weight))
            )
        score, called, true, s = map(np.concatenate, zip(*found, strict=True))
        weights = s if np.any(s != s[:1]) else None
        if not np.any(s > 0):
            raise ValueError("There are no rows with a weight above zero to promise anything by.")
        labels = None if groups is None else labels_of_rows(groups, len(score))
        return Known(score, called, true, weights, labels)

    def _judged_weighted(self, rows: Chunk) -> tuple[Any, Any, Any, Any]:
        found = self._judged(rows)
        s = np.ones(len(found[0])) if rows.s is None else np.asarray(to_numpy(rows.s), np.float64)
        return (*found, s)

    def _judged(self, rows: Chunk) -> tuple[Any, Any, Any]:
        answer = self._answer(rows.X)
        return self.confidence_(answer), answer.place, self._classes.positions(rows.Y)

    def _labelled(self, X: Any, y: Any, method: str, weight: Any = None) -> Iterator[Chunk]:
        """Return blocks of rows with known labels."""
        X = self._new_rows(X, method)
        self._check_fresh()
        if isinstance(X, Scan):
            refuse_beside_scan(y=y, sample_weight=weight)
            check_targets(self, X, 1)
            state = encoder_of(X)
            return (chunk._replace(Y=named(chunk.Y, state)[:, 0]) for chunk in X.chunks())
        labels, n = self._known(y), int(X.shape[0])
        if len(labels) != n:
            raise ValueError(f"X has {n} rows, y has {len(labels)}; they must be as many.")
        s = None if weight is None else np.asarray(to_numpy(weight), dtype=np.float64)
        if s is not None and (s.shape != (n,) or not np.all((s >= 0) & np.isfinite(s))):
            raise ValueError(
                f"sample_weight must have one number of at least 0 for each of the {n} rows."
            )
        size = check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
        parts = chunk_slices(n, size)
        return (Chunk(X[p, :], labels[p], None if s is None else s[p]) for p in parts)

    def _summed(self, X: Any, y: Any, function: Callable[[Chunk], Any], weight: Any) -> Any:
        """Return what `function` adds up to over the rows of a cluster."""
        check_is_fitted(self)
        self._check_fresh()
        if isinstance(X, Spread):
            refuse_beside_scan(y=y, sample_weight=weight)
            check_new_scan(self, X.scan)
            check_targets(self, X.scan, 1)
        else:
            check_collection(self, X, reset=False)
            y = self._numbered(one_column(y))
        rows = held_out_on_cluster(X, y, weight, 1, self.chunk_size)
        label = self._labels_at
        if isinstance(X, Spread):
            label = partial(named, state=encoder_of(X.scan))

        def chunk_map(chunk: Chunk) -> Any:
            return function(chunk._replace(Y=label(chunk.Y)[:, 0]))

        with judging(self, X.scan if isinstance(X, Spread) else X):
            return engine.total(rows, chunk_map, "evaluate")

    def _known(self, y: Any) -> Labels:
        if y is None:
            raise ValueError("y is needed: the labels of the rows.")
        return super()._known(y)
