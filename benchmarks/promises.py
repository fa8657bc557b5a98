"""Are promises kept, and are they made: validity and power of `calibrate` side by side.

A model is trained once and judges a population. Rows, or photos, are drawn from it with
replacement as often as is told, each draw makes a promise or is refused, and the population tells
the risk at the threshold exactly. With a confidence of 90 % a tenth of the draws may break theirs.

"At best" is how often a test of one threshold alone would promise the limit, if the best one were
known beforehand and nothing had to be spent on finding it. Every third threshold is tried for it.

Photos are divided once. Constants of the tests were chosen on photos that train the models here;
`--half` tells which of the others are drawn from.

    python -m benchmarks.promises                       # rows; needs no data, one minute
    python -m benchmarks.promises --photos /tmp/pixels  # also photos, needs ELMBAND_DATA
"""

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from elmband import ELMSelectiveClassifier
from elmband.uncertainty.promise import Grid, Risk, promise
from elmband.uncertainty.promise.bounds import BettingEvidence, BinomialEvidence
from elmband_experiments.pixels import write_pixels

Array = NDArray[Any]

CONFIDENCE = 0.9
SEED = 20240229
TRAINING_PHOTOS, ALL_PHOTOS, PIXELS = 600, 1400, 262_500


class Population(NamedTuple):
    """Judged rows: scores, which are wrong, and groups if rows come in groups."""

    score: Array
    wrong: Array
    groups: Array | None
    grid: Grid

    def risk(self, threshold: float) -> float:
        """Return the risk at a threshold: of rows, or the mean of groups with an answered row."""
        answered = self.score >= threshold
        if self.groups is None:
            return float(self.wrong[answered].mean()) if answered.any() else 0.0
        n = np.bincount(self.groups[answered])
        bad = np.bincount(self.groups[answered & self.wrong], minlength=len(n))
        return float(np.mean(bad[n > 0] / n[n > 0])) if n.any() else 0.0

    def answerable(self, limit: float) -> float:
        """Return the largest share of rows that could be answered, were the risk known."""
        fine = [t for t in self.grid.thresholds if self.risk(t) <= limit]
        return float(np.mean(self.score >= min(fine))) if fine else 0.0

    def at_best(self, size: int, limit: float, times: int) -> float:
        """Return how often one threshold, the best there is, would be promised by itself."""
        fine = [t for t in self.grid.thresholds if self.risk(t) <= limit]
        passed = np.zeros(len(fine[::3]))
        for some, groups in self.draws(size, times):
            score, wrong = self.score[some], self.wrong[some]
            passed += [_evidence(score >= t, wrong, groups, limit) for t in fine[::3]]
        return float(passed.max(initial=0.0)) / times

    def draws(self, size: int, times: int) -> Iterator[tuple[Array, Array | None]]:
        """Yield rows drawn with replacement, or those of groups and numbers of these."""
        rng = np.random.default_rng(SEED)
        if self.groups is None:
            for _ in range(times):
                yield rng.integers(len(self.score), size=size), None
            return
        order = np.argsort(self.groups, kind="stable")
        rows_of = np.split(order, np.cumsum(np.bincount(self.groups))[:-1])
        for _ in range(times):
            some = [rows_of[k] for k in rng.integers(len(rows_of), size=size)]
            yield np.concatenate(some), np.repeat(np.arange(size), [len(rows) for rows in some])


def _evidence(answered: Array, wrong: Array, groups: Array | None, limit: float) -> bool:
    """Return whether a test of one threshold passes."""
    delta = 1 - CONFIDENCE
    if groups is None:
        return BinomialEvidence(wrong[answered].sum(), answered.sum()).p_value(limit) <= delta
    n = np.bincount(groups[answered])
    bad = np.bincount(groups[answered & wrong], minlength=len(n))[n > 0]
    return BettingEvidence.of(bad / n[n > 0], limit, delta).p_value(limit) <= delta


class Outcome(NamedTuple):
    """What became of the draws: shares of them, and rows answered by promises that were made."""

    made: float
    broken: float
    answered: float

    @classmethod
    def of(cls, rows: Population, size: int, limit: float, times: int) -> "Outcome":
        """Make promises of `size` rows or groups each."""
        kept, shares = [], []
        for some, groups in rows.draws(size, times):
            risk = Risk.error(rows.wrong[some])
            options = {"limit": limit, "confidence": CONFIDENCE, "groups": groups}
            try:
                found = promise(risk, rows.score[some], rows.grid, **options)
            except ValueError:
                continue
            kept.append(rows.risk(found.value) <= limit)
            shares.append(float(np.mean(rows.score >= found.value)))
        broken = len(kept) - sum(kept)
        return cls(len(kept) / times, broken / times, float(np.mean(shares or [0.0])))


def judged(model: Any, X: Array, y: Array, groups: Array | None = None) -> Population:
    """Let a model judge a population; candidates come from its training rows left out."""
    known = model.fitted_.deciding.left_out
    grid = Grid.of(known.score, known.called != known.true)
    return Population(model.confidence(X), model.predict(X) != y, groups, grid)


def noisy(n: int, seed: int) -> tuple[Array, Array]:
    """Draw rows of two classes, of which half are wrong in 2 % and half in 35 % of the cases."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 2))
    wrong = rng.random(n) < np.where(X[:, 0] > 0, 0.35, 0.02)
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] > 0) ^ wrong


def sets_of_rows() -> Iterator[tuple[str, Population, list[tuple[int, float]]]]:
    """Yield populations of independent rows, with numbers held out and limits."""
    sizes = [(100, 0.1), (500, 0.1), (1500, 0.1), (1500, 0.05)]
    for seed in range(3):
        model = ELMSelectiveClassifier(30, noise="squared", random_state=0)
        model.fit(*noisy(400, seed))
        yield f"half noisy, {seed}", judged(model, *noisy(40_000, 100 + seed)), sizes
    X, y = load_digits(return_X_y=True)
    model = ELMSelectiveClassifier(random_state=0).fit(X[:500], y[:500])
    yield "digits", judged(model, X[500:], y[500:]), [(500, 0.01), (500, 0.03)]


def sets_of_photos(
    folder: Path, half: str
) -> Iterator[tuple[str, Population, list[tuple[int, float]]]]:
    """Yield pixels of half of the photos that training did not see, drawn by photo."""
    sizes = [(30, 0.1), (30, 0.15), (100, 0.1), (400, 0.05)]
    sizes += [(800, limit) for limit in (0.01, 0.02, 0.03, 0.05)]
    train, test = (_table(folder, name) for name in ("train", "test"))
    _, photo = np.unique(test[:, -2], return_inverse=True)
    chosen = np.zeros(photo.max() + 1, dtype=np.bool_)
    chosen[np.random.default_rng(SEED).permutation(len(chosen))[: len(chosen) // 2]] = True
    mine = chosen[photo] if half == "one" else ~chosen[photo]
    X, y = test[mine, :-2], test[mine, -1] > 0
    _, groups = np.unique(photo[mine], return_inverse=True)
    published = {"linear": X.shape[1], "sigmoid": 200}
    models = {
        "photos, defaults": ELMSelectiveClassifier(random_state=0),
        "photos, published layer": ELMSelectiveClassifier(
            published, noise="squared", random_state=0
        ),
    }
    for name, model in models.items():
        model.fit(train[:, :-2], train[:, -1] > 0)
        yield name, judged(model, X, y, groups), sizes


def _table(folder: Path, name: str) -> Array:
    """Return pixels with photo and class, written once."""
    folder.mkdir(parents=True, exist_ok=True)
    out, other = folder / "promises-train.npy", folder / "promises-test.npy"
    if not (out.exists() and other.exists()):
        photos = Path(os.environ["ELMBAND_DATA"]) / "skin_abdomen"
        options: dict[str, Any] = {"n_rows": PIXELS, "split": TRAINING_PHOTOS / ALL_PHOTOS}
        options |= {"balance": "balanced", "test_out": other, "verbose": False}
        write_pixels(photos / "images", photos / "masks", out, **options)
    return np.load(out if name == "train" else other)


def main() -> None:
    """Print a line for every population, number held out and limit."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--times", type=int, default=200, help="draws of every line")
    parser.add_argument("--photos", type=Path, help="folder for tables of pixels")
    parser.add_argument("--half", choices=["one", "other"], default="other")
    chosen = parser.parse_args()
    sets = [*sets_of_rows()]
    if chosen.photos:
        sets += sets_of_photos(chosen.photos, chosen.half)
    error = np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / chosen.times)
    print(f"{chosen.times} draws; at most {1 - CONFIDENCE + 2 * error:.1%} may be broken")
    print("| rows | held out | max_error | could answer | at best | made | broken | answered |")
    print("|---|---|---|---|---|---|---|---|")
    for name, rows, sizes in sets:
        for size, limit in sizes:
            found = Outcome.of(rows, size, limit, chosen.times)
            best = rows.at_best(size, limit, min(chosen.times, 50))
            units = "rows" if rows.groups is None else "photos"
            print(
                f"| {name} | {size} {units} | {limit} | {rows.answerable(limit):.1%} | "
                f"{best:.0%} | {found.made:.1%} | {found.broken:.1%} | {found.answered:.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
