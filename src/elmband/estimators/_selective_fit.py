"""How a classifier that abstains learns what to be certain of."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags

from elmband.estimators._intervals import IntervalModel
from elmband.estimators._request import ASKED, Request, positive_place
from elmband.estimators._thresholds import Known, Thresholds, estimated, promised
from elmband.estimators._triage import Usual
from elmband.estimators._validate import check_choice
from elmband.estimators.classifier import ELMClassifier
from elmband.ground.arrays import Array, double, namespace, to_numpy
from elmband.sources.device import moved
from elmband.sums.rows import Rows
from elmband.uncertainty.classes import Classes
from elmband.uncertainty.confidence import RULES, Answer, Confidence, Judge, Rule
from elmband.uncertainty.left_out import LeftOut


class Abstaining(ELMClassifier, IntervalModel):
    """Rules and estimates of `ELMSelectiveClassifier`, which describes parameters."""

    rank_by: Rule
    coverage: float | None
    max_error: float | None
    max_fpr: float | None
    min_precision: float | None
    per_class: bool
    pos_label: Any
    # Rows held out with the confidence level of promises, None before `calibrate`.
    _held_out: tuple[Known, float] | None = None
    _thresholds: Thresholds | None = None

    def _training(self, X: Any, y: Any, weight: Any, groups: Any) -> tuple[Rows, Any]:
        check_choice(self.rank_by, RULES, "rank_by")
        found = super()._training(X, y, weight, groups)
        # Classes are known: what cannot be asked of them is refused before a long fit.
        self._request()
        return found

    def _columns(self, count: int) -> Classes:
        raise ValueError(
            f"y has {count} labels a row, each of them a decision: train a model each."
        )

    def _learn(self, left_out: Callable[[], LeftOut]) -> None:
        found = left_out()
        super()._learn(lambda: found)
        # A judge would learn from an echo of the classes that nothing can be told.
        rows = found.without_echo().numpy()
        assert rows.s is not None
        assert rows.mean_model is not None
        assert rows.noise_model is not None
        answer = self._answered(rows.mean, rows.noise, rows.mean_model + rows.noise_model)
        zero = np.zeros_like(rows.mean)
        true = self._answered(rows.target, zero, zero).place
        judge = None
        if self.rank_by == "probability":
            judge = Judge.fit(answer, answer.place == true, rows.s)
        self.confidence_ = Confidence(self.rank_by, judge)
        s = rows.s if (rows.s != 1).any() else None
        known = Known(self.confidence_(answer), answer.place, true, s)
        self._left_out = known.small(len(self.classes_))
        self._usual = Usual.of(answer, s)
        self._decide(self._request(), None)

    def _answered(self, mean: Any, noise: Any, model: Any) -> Answer:
        """Return answers from standardised means and variances, each (n, m)."""
        scale, centre = (to_numpy(double(a)) for a in (self._targets.scale, self._targets.mean))
        variances = (to_numpy(double(v)) * scale**2 for v in (noise, model))
        return Answer.of(to_numpy(double(mean)) * scale + centre, *variances)

    def _answer(self, X: Array, *, whole: bool = False) -> Answer:
        """Return what is said of a block of rows, without variances that the rule does not need.

        The answer is `whole` where reasons need them all the same.
        """
        self._check_fresh()
        if self._device is not None and isinstance(X, np.ndarray):
            X = moved(X, self._device)
        if self.confidence_.rule == "margin" and not whole:
            mean = self._mean_of(X)
            zero = namespace(mean).zeros_like(mean)
            return self._answered(mean, zero, zero)
        return self._answered(*self._noise_and_model(X))

    def refresh(self, X: Any = None, y: Any = None, sample_weight: Any = None) -> Self:
        """Bring intervals, probabilities and thresholds up to date after `partial_fit` or `merge`.

        See `ELMIntervalRegressor.refresh`. A promise becomes an estimate again.
        """
        return IntervalModel.refresh(self, X, y, sample_weight)

    def _request(self, **changed: Any) -> Request | None:
        """Return what is asked for by the parameters, some of them changed."""
        asked = {name: getattr(self, name) for name in ASKED} | changed
        return Request.of(asked, self.classes_)

    def _positive(self) -> int | None:
        """Return the place of the positive class, None where there is none."""
        return positive_place(self.pos_label, self.classes_)

    def _decide(self, request: Request | None, held_out: tuple[Known, float] | None) -> None:
        """Find thresholds by rows held out, else by those left out.

        A refusal leaves everything as it was.
        """
        thresholds = None
        if request is not None and held_out is None:
            thresholds = estimated(request, self._left_out, self.classes_)
        elif request is not None and held_out is not None:
            rows, level = held_out
            thresholds = promised(request, rows, self._left_out, self.classes_, level)
        self._held_out, self._thresholds = held_out, thresholds

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags
