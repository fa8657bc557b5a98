"""From what a user asks for, and rows whose labels are known, to thresholds."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np

from elmband.models.request import Request
from elmband.uncertainty.promise import Grid, Risk, Threshold, coverage_threshold, estimate, promise

Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Places = np.ndarray[Any, Any]


class ScoredRows(NamedTuple):
    """Rows with known labels: scores, places of called and of true classes, weights, groups.

    Weights are None where all rows count once, groups where rows are independent.
    """

    score: Floats
    called: Places
    true: Places
    s: Floats | None = None
    groups: np.ndarray[Any, Any] | None = None

    @classmethod
    def name_in_files(cls) -> str:
        """Return the name that the first version gave it."""
        return "Known"

    def __repr__(self) -> str:
        return f"ScoredRows({len(self.score):,} rows)"

    def part(self, mask: Bools) -> "ScoredRows":
        """Return some of the rows."""
        return ScoredRows(*(None if a is None else a[mask] for a in self))  # type: ignore[arg-type]

    def small(self, n_classes: int) -> Self:
        """Return the same to be kept: places take as few bytes as they can."""
        dtype = np.min_scalar_type(n_classes - 1)
        return self._replace(called=self.called.astype(dtype), true=self.true.astype(dtype))


class Thresholds(NamedTuple):
    """The thresholds of all classes, by place; None for a class that is always answered."""

    by_class: tuple[Threshold | None, ...]
    per_class: bool = False

    def __repr__(self) -> str:
        known = self.by_class if self.per_class else self.by_class[:1]
        values = ["none" if t is None else f"{t.value:.4g}" for t in known]
        more = f", ... {len(values) - 10} more" if len(values) > 10 else ""
        kinds = "one for each class" if self.per_class else "the same for all classes"
        return f"Thresholds({', '.join(values[:10])}{more}, {kinds})"

    def accepted(self, score: Floats, called: Places) -> Bools:
        """Return which rows are answered."""
        least = [-np.inf if t is None else t.value for t in self.by_class]
        return np.asarray(score >= np.asarray(least)[called])

    def statement(self, labels: Any) -> str:
        """Say what can be relied on, in a line for each class that has a threshold of its own."""
        if not self.per_class:
            assert self.by_class[0] is not None
            return self.by_class[0].sentence
        return "\n".join(
            f"Rows called {label}: {'Always answered.' if t is None else t.sentence}"
            for label, t in zip(labels, self.by_class, strict=True)
        )


# Makes a threshold of rows that were called the class at a place, or of all rows: None.
_One = Callable[[ScoredRows, int | None], Threshold]


def estimated(request: Request, rows: ScoredRows, labels: Any) -> Thresholds:
    """Return thresholds from training rows left out."""

    def one(rows: ScoredRows, place: int | None) -> Threshold:
        if request.wish == "coverage":
            return coverage_threshold(rows.score, request.value, sample_weight=rows.s)
        risk, limit = _risk(request, rows, labels, place)
        return estimate(risk, rows.score, limit=limit, sample_weight=rows.s)

    return _by_class(request, rows, labels, one)


def promised(
    request: Request, rows: ScoredRows, training: ScoredRows, labels: Any, confidence_level: float
) -> Thresholds:
    """Return thresholds that rows held out vouch for; candidates come from training rows."""
    count = len(labels) if request.per_class and not request.one_sided else 1

    def one(rows: ScoredRows, place: int | None) -> Threshold:
        if request.wish == "coverage":
            return coverage_threshold(rows.score, request.value, sample_weight=rows.s)
        risk, limit = _risk(request, rows, labels, place)
        wanted = request.positive if request.one_sided else place
        return promise(
            risk,
            rows.score,
            _candidates(request, training, labels, wanted),
            limit=limit,
            confidence=confidence_level,
            sample_weight=rows.s,
            groups=rows.groups,
            together=count,
        )

    return _by_class(request, rows, labels, one)


def _candidates(request: Request, training: ScoredRows, labels: Any, place: int | None) -> Grid:
    """Return thresholds at scores of training rows that count when they are answered."""
    known = training if training.s is None else training.part(training.s > 0)
    mine = known if place is None else known.part(known.called == place)
    some = mine if len(mine.score) else known
    risk, _ = _risk(request, some, labels, place)
    return Grid.of(some.score, risk.bad)


def _by_class(request: Request, rows: ScoredRows, labels: Any, one: _One) -> Thresholds:
    if not request.per_class:
        return Thresholds((one(rows, None),) * len(labels))
    found: list[Threshold | None] = [None] * len(labels)
    if request.one_sided:
        assert request.positive is not None
        # The rate of false positives counts all negatives, whatever they were called.
        found[request.positive] = one(_only_called(rows, request.positive), request.positive)
    else:
        for place, label in enumerate(labels):
            found[place] = _of_class(request, rows.part(rows.called == place), place, label, one)
    accepted = Thresholds(tuple(found)).accepted(rows.score, rows.called)
    share = float(np.average(accepted, weights=rows.s))
    whole = (None if t is None else replace(t, answered=share) for t in found)
    return Thresholds(tuple(whole), per_class=True)


def _of_class(
    request: Request, part: ScoredRows, place: int, label: Any, one: _One
) -> Threshold | None:
    """Return the threshold of rows that were all called one class."""
    if request.wish == "coverage" and not len(part.score):
        return None
    try:
        return one(part, place)
    except ValueError as error:
        raise ValueError(f"For rows called {label}: {error}") from None


def _only_called(rows: ScoredRows, place: int) -> ScoredRows:
    """Return rows of which those called otherwise are the last to be answered."""
    return rows._replace(score=np.where(rows.called == place, rows.score, -np.inf))


def _risk(request: Request, rows: ScoredRows, labels: Any, place: int | None) -> tuple[Risk, float]:
    if request.wish == "max_error":
        risk = Risk.error(rows.called != rows.true)
        if place is not None:
            meaning = replace(risk.meaning, of=f"the rows answered as {labels[place]}")
            risk = replace(risk, meaning=meaning)
        return risk, request.value
    assert request.positive is not None
    masks = rows.true == request.positive, rows.called == request.positive
    name = str(labels[request.positive])
    if request.wish == "max_fpr":
        return Risk.fpr(*masks, name), request.value
    return Risk.fdr(*masks, name), 1 - request.value
