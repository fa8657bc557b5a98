"""How a classifier that abstains learns what to be certain of, and what it promises."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from elmband import engine
from elmband._arrays import Array, double, namespace, to_numpy
from elmband.classes import Classes, Labels
from elmband.confidence import RULES, Answer, Confidence, Judge, Rule
from elmband.estimators._intervals import IntervalModel
from elmband.estimators._scans import check_targets, refuse_beside_scan
from elmband.estimators._thresholds import (
    WISHES,
    Known,
    Request,
    Thresholds,
    estimated,
    promised,
)
from elmband.estimators._triage import Usual
from elmband.estimators._validate import check_choice, check_chunk_size, check_levels
from elmband.estimators.classifier import ELMClassifier
from elmband.left_out import LeftOut
from elmband.moments import Chunk
from elmband.promise import Threshold
from elmband.rows import DEFAULT_CHUNK_SIZE, chunk_slices
from elmband.stream import Scan

# What these models are made of besides, for files.
SAVED_KINDS = (Known, Thresholds, Usual)


class Abstaining(ELMClassifier, IntervalModel):
    """Rules and thresholds of `ELMSelectiveClassifier`, which describes parameters."""

    rank_by: Rule
    coverage: float | None
    max_error: float | None
    max_fpr: float | None
    min_precision: float | None
    per_class: bool
    pos_label: Any

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        check_choice(self.rank_by, RULES, "rank_by")
        self._held_out: tuple[Known, float] | None = None
        super()._fit(X, y, sample_weight, groups)

    def _columns(self, count: int) -> Classes:
        raise ValueError(
            f"y has {count} labels a row, each of them a decision: train a model each."
        )

    def _learn(self, left_out: Callable[[], LeftOut]) -> None:
        found = left_out()
        super()._learn(lambda: found)
        rows = found.numpy()
        assert rows.s is not None
        answer = self._answered(rows.mean, (rows.noise, rows.mean_model, rows.noise_model))
        zero = np.zeros_like(rows.mean)
        true = self._answered(rows.target, (zero, zero, zero)).place
        judge = None
        if self.rank_by == "probability":
            judge = Judge.fit(answer, answer.place == true, rows.s)
        self.confidence_ = Confidence(self.rank_by, judge)
        self._left_out = Known(self.confidence_(answer), answer.place, true, rows.s)
        self._evidence = answer
        self._set_thresholds()

    def _answered(self, mean: Any, variances: Iterable[Any]) -> Answer:
        """Return answers from standardised means and variances, each (n, m)."""
        scale, centre = (to_numpy(double(a)) for a in (self._targets.scale, self._targets.mean))
        first, second, third = (to_numpy(double(v)) * scale**2 for v in variances)
        return Answer.of(to_numpy(double(mean)) * scale + centre, (first, second, third))

    def _answer(self, X: Array) -> Answer:
        """Return what is said of a block of rows."""
        if self.rank_by == "margin":
            self._check_fresh()
            mean = self._mean_of(X)
            zero = namespace(mean).zeros_like(mean)
            return self._answered(mean, (zero, zero, zero))
        parts = self._parts(X)
        return self._answered(parts.mean, (parts.noise, parts.mean_model, parts.noise_model))

    def refresh(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Bring intervals, probabilities and thresholds up to date after `partial_fit` or `merge`.

        See `ELMIntervalRegressor.refresh`. A promise becomes an estimate again.
        """
        self._held_out = None
        return IntervalModel.refresh(self, X, y, sample_weight)

    # Thresholds.

    def _request(self) -> Request | None:
        """Return what is asked for, or None."""
        asked = {wish: getattr(self, wish) for wish in WISHES if getattr(self, wish) is not None}
        if not asked:
            return None
        if len(asked) > 1:
            raise ValueError(
                f"{' and '.join(asked)} are asked for at once; ask for one of {', '.join(WISHES)}."
            )
        ((wish, value),) = asked.items()
        numeric = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        most = 1 if wish == "coverage" else np.nextafter(1, 0)
        if not numeric or not 0 < float(value) <= most:
            raise ValueError(f"{wish} must be a share between 0 and 1; got {value!r}.")
        request = Request(wish, float(value), bool(self.per_class), self._positive())
        if request.one_sided and request.positive is None:
            raise ValueError(f"{wish} needs pos_label, the class whose false answers do harm.")
        return request

    def _positive(self) -> int | None:
        """Return the place of the positive class: the second of two, else the one named."""
        labels = self.classes_.tolist()
        if self.pos_label is None:
            return 1 if len(labels) == 2 else None
        if self.pos_label not in labels:
            known = ", ".join(map(repr, labels[:10]))
            raise ValueError(f"pos_label={self.pos_label!r} is none of the classes {known}.")
        return int(labels.index(self.pos_label))

    def _set_thresholds(self) -> None:
        request = self._request()
        self._thresholds: Thresholds | None = None
        if request is None:
            return
        if self._held_out is None:
            self._thresholds = estimated(request, self._left_out, self.classes_)
        else:
            rows, level = self._held_out
            self._thresholds = promised(request, rows, self._left_out, self.classes_, level)
        accepted = self._thresholds.accepted(self._left_out.score, self._left_out.called)
        self._usual = Usual.of(self._evidence, accepted)

    @property
    def thresholds_(self) -> dict[Any, Threshold | None]:
        """The threshold of every class; None for a class that is always answered."""
        return dict(zip(self.classes_.tolist(), self._chosen().by_class, strict=True))

    @property
    def statement_(self) -> str:
        """What can be relied on, in words."""
        found = self.thresholds_
        if len(set(map(id, found.values()))) == 1:
            threshold = next(iter(found.values()))
            assert threshold is not None
            return threshold.sentence
        lines = [
            f"{label}: {'Always answered.' if t is None else t.sentence}"
            for label, t in found.items()
        ]
        return "\n".join(lines)

    def _chosen(self) -> Thresholds:
        if getattr(self, "_thresholds", None) is None:
            raise ValueError(
                "Nothing says which rows to answer: ask for a coverage, max_error, max_fpr or "
                "min_precision, as in choose(coverage=0.5)."
            )
        return self._thresholds  # type: ignore[return-value]

    def choose(self, *, per_class: bool | None = None, **wish: float) -> Self:
        """Ask for something else, as in ``choose(max_error=0.01)``, without a new fit.

        Thresholds come from the rows of `calibrate`, or else from training rows left out. A
        promise holds for one wish; do not try several and keep the best.
        """
        unknown = set(wish) - set(WISHES)
        if unknown or not wish:
            raise ValueError(f"choose takes one of {', '.join(WISHES)}; got {sorted(wish)}.")
        self._check_fresh()
        for name in WISHES:
            setattr(self, name, wish.get(name))
        self.per_class = self.per_class if per_class is None else per_class
        self._set_thresholds()
        return self

    def calibrate(
        self, X: Any, y: Any = None, *, groups: Any = None, confidence_level: float = 0.95
    ) -> Self:
        """Turn the threshold into a promise, by held-out rows that training did not see.

        With probability `confidence_level` over the draw of these rows, the risk that was asked
        for is kept on new rows of the same kind. Rows of a group (a photo, a patient) are not
        independent: with `groups` the groups are counted, and the promise is for the average
        group. Too few rows for the promise are refused with the number that is needed. A coverage
        is no risk, and stays an estimate.

        X and y are arrays, or X is a scan; `groups` has one label for each row. Of a scan, 24
        bytes are kept for each row.
        """
        levels = check_levels(confidence_level)
        before = self._held_out
        self._held_out = self._judged_rows(X, y, groups), levels.values[0]
        try:
            self._set_thresholds()
        except ValueError:
            self._held_out = before
            self._set_thresholds()
            raise
        return self

    def _judged_rows(self, X: Any, y: Any, groups: Any) -> Known:
        """Return scores, called and true classes of held-out rows."""
        columns = list(zip(*self._labelled(X, y, self._judged), strict=True))
        score, called, true = (np.concatenate(column) for column in columns)
        labels = None if groups is None else np.asarray(to_numpy(groups))
        if labels is not None and labels.shape != score.shape:
            raise ValueError(
                f"groups must have one label for each of the {len(score)} rows; its shape is "
                f"{labels.shape}."
            )
        return Known(score, called, true, np.ones(len(score)), labels)

    def _judged(self, rows: Chunk) -> tuple[Any, Any, Any]:
        answer = self._answer(rows.X)
        return self.confidence_(answer), answer.place, self._classes.positions(rows.Y)

    def _labelled(
        self, X: Any, y: Any, function: Callable[[Chunk], Any], weight: Any = None
    ) -> Iterator[Any]:
        """Yield what `function` makes of blocks of rows with known labels."""
        X = self._new_rows(X, "calibrate")
        if isinstance(X, Scan):
            refuse_beside_scan(y=y, sample_weight=weight)
            check_targets(self, X, 1)
            chunks = (chunk._replace(Y=to_numpy(chunk.Y)[:, 0]) for chunk in X.chunks())
            return engine.on_chunks(function, chunks)
        labels, n = self._known(y), int(X.shape[0])
        if len(labels) != n:
            raise ValueError(f"X has {n} rows, y has {len(labels)}; they must be as many.")
        s = None if weight is None else np.asarray(to_numpy(weight), dtype=np.float64)
        if s is not None and (s.shape != (n,) or not np.all(s >= 0)):
            raise ValueError(f"sample_weight must have one number of at least 0 for {n} rows.")
        size = check_chunk_size(self.chunk_size, DEFAULT_CHUNK_SIZE)
        chunks = (
            Chunk(X[part, :], labels[part], None if s is None else s[part])
            for part in chunk_slices(n, size)
        )
        return engine.on_chunks(function, chunks)

    def _known(self, y: Any) -> Labels:
        if y is None:
            raise ValueError("y is needed: the labels of the rows.")
        return super()._known(y)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags
