"""How often promises are broken, when photos are divided again and again.

A model is trained on some photos. The others are judged once, then divided at random as often as
is told: one half makes the promise, the other half tells what it was worth.

The half that tells is a sample too: its mean may exceed the limit although that of all photos does
not. So photos are also drawn with replacement, as many as a half. Then the mean over all photos is
exactly the risk that the promise is about, and it may be broken no more often than was said.

Thresholds come from the same functions that `calibrate` calls, on rows that are judged once; the
first division is made by `calibrate` itself too, and has to agree.
"""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from benchmarks.abstain.data import Part, Split
from benchmarks.abstain.rivals.elm import published
from numpy.typing import NDArray

from elmband.uncertainty.promise import Grid, Risk, promise

Array = NDArray[Any]

RULES = ("margin", "interval", "probability")
CONFIDENCE = 0.9
WISHES = {"max_fpr": 0.01, "max_error": 0.05}
SEED = 20240229


class Rows(NamedTuple):
    """Judged rows: which class they have, which they are called, how certain, and their photo."""

    y: Array
    label: Array
    confidence: Array
    photo: Array

    def some(self, rows: Array) -> "Rows":
        """Return some of the rows."""
        return Rows(*(column[rows] for column in self))

    def risk(self, wish: str) -> Risk:
        """Return the risk that a wish is about."""
        if wish == "max_error":
            return Risk.error(self.label != self.y)
        return Risk.fpr(self.y == 1, self.label == 1)

    def mean_risk(self, wish: str, threshold: float) -> float:
        """Return the mean over photos of the risk within a photo, those without it left out."""
        risk, answered = self.risk(wish), self.confidence >= threshold
        counted = risk.counted & answered if risk.answered_only else risk.counted
        n = np.bincount(self.photo[counted])
        bad = np.bincount(self.photo[risk.bad & answered], minlength=len(n))
        return float(np.mean(bad[n > 0] / n[n > 0])) if n.any() else 0.0


class Trained(NamedTuple):
    """A model with its rule and the rows that it judged.

    By wish there are thresholds to be tried, and the one that `fit` estimates, without photos.
    """

    model: Any
    rows: Rows
    grids: dict[str, Grid]
    estimates: dict[str, float]

    def threshold(self, wish: str, rows: Rows) -> float | None:
        """Return the threshold that some rows promise, or None where they cannot."""
        try:
            found = promise(
                rows.risk(wish),
                rows.confidence,
                self.grids[wish],
                limit=WISHES[wish],
                confidence=CONFIDENCE,
                groups=rows.photo,
            )
        except ValueError:
            return None
        return found.value


def study(split: Split, times: int) -> dict[str, Any]:
    """Return shares of broken promises by rule and wish."""
    found: dict[str, Any] = {"times": times, "confidence": CONFIDENCE, "limits": WISHES}
    found |= {"training_photos": len(np.unique(split.train.groups))}
    found |= {"judged_photos": len(np.unique(split.test.groups)), "rules": {}}
    for rule in RULES:
        trained = train(split, rule)
        check(trained, split.test)
        found["rules"][rule] = {wish: divided(trained, wish, times) for wish in WISHES}
    return found


def train(split: Split, rule: str) -> Trained:
    """Train the published model, and let it judge the other photos."""
    model = published(rule, split.train.X.shape[1], seed=0).fit(split.train.X, split.train.y)
    answers = model.triage(split.test.X)
    _, photo = np.unique(split.test.groups, return_inverse=True)
    rows = Rows(split.test.y, answers.label, answers.confidence, photo)
    known = model.fitted_.deciding.left_out
    called = known.score[known.called == 1]
    wrong = known.called != known.true
    grids = {
        "max_fpr": Grid.of(called, wrong[known.called == 1]),
        "max_error": Grid.of(known.score, wrong),
    }
    estimates = {wish: _chosen(model, wish).thresholds_[1].value for wish in WISHES}
    return Trained(model, rows, grids, estimates)


def _chosen(model: Any, wish: str) -> Any:
    return model.choose(**{wish: WISHES[wish]})


def check(trained: Trained, test: Part) -> None:
    """Compare the first division with `calibrate`."""
    mask = next(halves(trained.rows.photo, 1))
    X, y, groups = (column[mask] for column in test)
    for wish in WISHES:
        expected = trained.threshold(wish, trained.rows.some(mask))
        if expected is None:
            continue
        # Each time from the estimate, since a wish is refused that its rows cannot promise.
        model = _chosen(deepcopy(trained.model), wish)
        value = (
            model.calibrate(X, y, groups=groups, confidence_level=CONFIDENCE).thresholds_[1].value
        )
        if value != expected:
            raise RuntimeError(f"calibrate has the threshold {value}, expected {expected}")


def halves(photo: Array, times: int) -> Iterator[NDArray[np.bool_]]:
    """Yield the rows of half of the photos, chosen at random."""
    rng, count = np.random.default_rng(SEED), int(photo.max()) + 1
    for _ in range(times):
        chosen = np.zeros(count, dtype=np.bool_)
        chosen[rng.permutation(count)[: count // 2]] = True
        yield chosen[photo]


def draws(photo: Array, times: int) -> Iterator[tuple[Array, Array]]:
    """Yield rows of photos drawn with replacement, as many as a half, and numbers of the draws."""
    rng, count = np.random.default_rng([SEED, 1]), int(photo.max()) + 1
    order = np.argsort(photo, kind="stable")
    rows_of = np.split(order, np.cumsum(np.bincount(photo))[:-1])
    for _ in range(times):
        some = [rows_of[k] for k in rng.integers(count, size=count // 2)]
        yield np.concatenate(some), np.repeat(np.arange(len(some)), [len(rows) for rows in some])


def divided(trained: Trained, wish: str, times: int) -> dict[str, Any]:
    """Make and test promises of one wish."""
    rows, limit = trained.rows, WISHES[wish]
    by_half: list[tuple[float, float, float]] = []
    for mask in halves(rows.photo, times):
        threshold = trained.threshold(wish, rows.some(mask))
        if threshold is not None:
            unseen = rows.some(~mask)
            risks = (part.mean_risk(wish, threshold) for part in (unseen, rows))
            by_half.append((*risks, float(np.mean(unseen.confidence >= threshold))))
    by_draw: list[float] = []
    for some, number in draws(rows.photo, times):
        threshold = trained.threshold(wish, rows.some(some)._replace(photo=number))
        if threshold is not None:
            by_draw.append(rows.mean_risk(wish, threshold))
    unseen, everything, answered = np.array(by_half or np.empty((0, 3))).reshape(-1, 3).T
    return {
        "made": len(by_half),
        "broken_unseen": int(np.sum(unseen > limit)),
        "broken_all": int(np.sum(everything > limit)),
        "drawn": len(by_draw),
        "broken_drawn": int(np.sum(np.array(by_draw) > limit)),
        "answered": _mean(answered),
        "risk": _mean(unseen),
        "estimated": _worth(rows, wish, trained.estimates[wish]),
    }


def _worth(rows: Rows, wish: str, threshold: float) -> dict[str, float]:
    answered = float(np.mean(rows.confidence >= threshold))
    return {"risk": rows.mean_risk(wish, threshold), "answered": answered}


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None
