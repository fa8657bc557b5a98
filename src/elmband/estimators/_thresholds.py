"""From what a user asks for, and rows whose labels are known, to thresholds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from elmband.promise import Grid, Risk, Threshold, coverage_threshold, estimate, promise

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

Wish: TypeAlias = Literal["coverage", "max_error", "max_fpr", "min_precision"]
WISHES: tuple[Wish, ...] = ("coverage", "max_error", "max_fpr", "min_precision")


class Request(NamedTuple):
    """What is asked for: a wish with its number, and whether each class has its own threshold.

    `positive` is the place of the positive class, None where there is none.
    """

    wish: Wish
    value: float
    per_class: bool
    positive: int | None

    @property
    def one_sided(self) -> bool:
        """Whether only answers of the positive class can do harm."""
        return self.wish in ("max_fpr", "min_precision")


class Known(NamedTuple):
    """Rows with known labels: scores, places of called and of true classes, weights, groups."""

    score: Floats
    called: Ints
    true: Ints
    s: Floats
    groups: np.ndarray[Any, Any] | None = None

    def part(self, mask: Any) -> "Known":
        """Return some of the rows."""
        return Known(*(None if a is None else a[mask] for a in self))  # type: ignore[arg-type]


class Thresholds(NamedTuple):
    """The thresholds of all classes, by place: the same for all, or one for each."""

    by_class: tuple[Threshold | None, ...]

    def accepted(self, score: Floats, called: Ints) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Return which rows are answered; a class without a threshold always is."""
        least = [-np.inf if t is None else t.value for t in self.by_class]
        return np.asarray(score >= np.asarray(least)[called])


def estimated(request: Request, rows: Known, labels: Any) -> Thresholds:
    """Return thresholds from training rows left out."""

    def one(rows: Known) -> Threshold:
        if request.wish == "coverage":
            return coverage_threshold(rows.score, request.value, sample_weight=rows.s)
        risk, limit = _risk(request, rows, labels)
        return estimate(risk, rows.score, limit=limit, sample_weight=rows.s)

    return _by_class(request, rows, labels, one)


def promised(
    request: Request, rows: Known, training: Known, labels: Any, confidence_level: float
) -> Thresholds:
    """Return thresholds that rows held out vouch for; candidates come from training rows."""
    count = len(labels) if request.per_class and not request.one_sided else 1

    def one(rows: Known) -> Threshold:
        if request.wish == "coverage":
            return coverage_threshold(rows.score, request.value)
        risk, limit = _risk(request, rows, labels)
        place = int(rows.called[0]) if request.per_class and len(rows.called) else None
        grid = Grid.of(_candidates(request, training, place))
        return promise(
            risk,
            rows.score,
            grid,
            limit=limit,
            confidence=confidence_level,
            groups=rows.groups,
            together=count,
        )

    return _by_class(request, rows, labels, one)


def _candidates(request: Request, training: Known, place: int | None) -> Floats:
    """Return the scores of training rows that count when they are answered."""
    wanted = request.positive if request.one_sided else place
    scores = training.score if wanted is None else training.score[training.called == wanted]
    return scores if len(scores) else training.score


def _by_class(
    request: Request, rows: Known, labels: Any, one: Callable[[Known], Threshold]
) -> Thresholds:
    if not request.per_class:
        return Thresholds((one(rows),) * len(labels))
    found: list[Threshold | None] = [None] * len(labels)
    if request.one_sided:
        assert request.positive is not None
        # The rate of false positives counts all negatives, whatever they were called.
        threshold = one(_only_called(rows, request.positive))
        found[request.positive] = threshold
        accepted = Thresholds(tuple(found)).accepted(rows.score, rows.called)
        share = float(rows.s @ accepted / rows.s.sum())
        found[request.positive] = replace(threshold, answered=share)
        return Thresholds(tuple(found))
    for place, label in enumerate(labels):
        part = rows.part(rows.called == place)
        if request.wish == "coverage" and not len(part.score):
            continue
        try:
            found[place] = one(part)
        except ValueError as error:
            raise ValueError(f"For rows called {label}: {error}") from None
    return Thresholds(tuple(found))


def _only_called(rows: Known, place: int) -> Known:
    """Return rows of which those called otherwise are the last to be answered."""
    return rows._replace(score=np.where(rows.called == place, rows.score, -np.inf))


def _risk(request: Request, rows: Known, labels: Any) -> tuple[Risk, float]:
    if request.wish == "max_error":
        return Risk.error(rows.called != rows.true), request.value
    assert request.positive is not None
    masks = rows.true == request.positive, rows.called == request.positive
    name = str(labels[request.positive])
    if request.wish == "max_fpr":
        return Risk.fpr(*masks, name), request.value
    return Risk.fdr(*masks, name), 1 - request.value
