"""From what a user asks for, and rows whose labels are known, to thresholds."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np

from elmband.uncertainty.promise import Grid, Risk, Threshold, coverage_threshold, estimate, promise

Wish: TypeAlias = Literal["coverage", "max_error", "max_fpr", "min_precision"]
WISHES: tuple[Wish, ...] = ("coverage", "max_error", "max_fpr", "min_precision")
ASKED = (*WISHES, "per_class", "pos_label")
"""Parameters that say which rows to answer."""

Floats = np.ndarray[Any, np.dtype[np.float64]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]
Places = np.ndarray[Any, Any]


class Request(NamedTuple):
    """What is asked for: a wish with its number, and whether each class has its own threshold.

    `positive` is the place of the positive class, None where there is none.
    """

    wish: Wish
    value: float
    per_class: bool
    positive: int | None

    @classmethod
    def of(cls, asked: Mapping[str, Any], labels: Any) -> Self | None:
        """Read the parameters `ASKED` of a model with these classes; None where nothing is."""
        positive = positive_place(asked["pos_label"], labels)
        wishes = {wish: asked[wish] for wish in WISHES if asked[wish] is not None}
        if len(wishes) > 1:
            raise ValueError(
                f"{' and '.join(wishes)} are asked for at once; ask for one of {', '.join(WISHES)}."
            )
        for wish, value in wishes.items():
            _check_share(wish, value)
            request = cls(wish, float(value), bool(asked["per_class"]), positive)
            if request.one_sided and positive is None:
                raise ValueError(f"{wish} needs pos_label, the class whose false answers do harm.")
            return request
        return None

    @property
    def one_sided(self) -> bool:
        """Whether only answers of the positive class can do harm."""
        return self.wish in ("max_fpr", "min_precision")


def positive_place(pos_label: Any, labels: Any) -> int | None:
    """Return the place of the positive class: the one named, else the second of two."""
    known = labels.tolist()
    if pos_label is None:
        return 1 if len(known) == 2 else None
    if pos_label not in known:
        names = ", ".join(map(repr, known[:10]))
        raise ValueError(f"pos_label={pos_label!r} is none of the classes {names}.")
    return int(known.index(pos_label))


def _check_share(wish: Wish, value: Any) -> None:
    numeric = isinstance(value, Real) and not isinstance(value, bool)
    if numeric and (0 < float(value) < 1 or (wish == "coverage" and float(value) == 1)):
        return
    hint = ""
    if numeric and 1 < float(value) < 100:
        hint = f" Did you mean {float(value) / 100:g}?"
    raise ValueError(f"{wish} must be a share between 0 and 1; got {value!r}.{hint}")


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
