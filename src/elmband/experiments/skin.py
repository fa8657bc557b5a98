"""Experiment 8: skin pixels, and the true and false positives of the most confident part."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elmband import ELMSelectiveClassifier
from elmband.display import ConfidentRatesDisplay, new_figure
from elmband.experiments.base import Experiment, Floats, Result, Row, Settings, percent
from elmband.experiments.models import published
from elmband.metrics import confident_rates
from elmband.metrics.answered import first_reaching
from elmband.pixels import write_pixels

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WINDOW = 7
INPUTS = 3 * WINDOW**2
NEURONS = {"linear": INPUTS, "sigmoid": 200}
SHARES = (0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 1.0)
FEW_PIXELS = 6_000
BY_ROW, BY_PHOTO = "random halves", "split by photo"
PER_SAMPLE, UNIFORM, DEFAULT = (
    "published mode, per-sample",
    "published mode, uniform",
    "elmband's classifier",
)

Pixels = NDArray[np.float32]


class Halves(NamedTuple):
    """Pixels to train on and to judge by, the target in the last column."""

    train: Pixels
    test: Pixels


class Answers(NamedTuple):
    """Labels ±1 of rows, and how certain each is."""

    label: Floats
    confidence: Floats


def run(settings: Settings) -> Result:
    """Train on both kinds of halves, and rank the test pixels by each rule."""
    n = min(FEW_PIXELS, settings.pixels) if settings.quick else settings.pixels
    rows: list[Row] = []
    curves: dict[str, dict[str, Any]] = {}
    for name in (BY_ROW, BY_PHOTO):
        settings.tell(f"{name}: pixels")
        halves = pixels(settings, n, by_photo=name == BY_PHOTO)
        curves[name] = {}
        y = halves.test[:, -1].astype(np.float64)
        for rule, answers in answered(halves, settings, name).items():
            found = confident_rates(y, answers.label, answers.confidence)
            curves[name][rule] = found
            accuracy = float(np.mean(answers.label == y))
            rows += measured(name, rule, len(halves.train), accuracy, found)
    return Result({"skin": rows}, {"skin": draw(curves)}, tuple(sentences(rows)))


def pixels(settings: Settings, n: int, *, by_photo: bool) -> Halves:
    """Draw pixels, half of each class, in halves by photo or at random."""
    assert settings.photos is not None
    images, masks = settings.photos / "images", settings.photos / "masks"
    with TemporaryDirectory() as folder:
        one, other = Path(folder, "one.npy"), Path(folder, "other.npy")
        options: Any = {"split": 0.5, "test_out": other} if by_photo else {}
        write_pixels(
            images,
            masks,
            one,
            n_rows=n,
            balance="balanced",
            window=WINDOW,
            random_state=settings.seed,
            verbose=False,
            **options,
        )
        if by_photo:
            return Halves(np.load(one), np.load(other))
        rows = np.load(one)
    order = np.random.default_rng(settings.seed).permutation(len(rows))
    train, test = np.split(order, [len(rows) // 2])
    return Halves(rows[train], rows[test])


def answered(halves: Halves, settings: Settings, name: str) -> dict[str, Answers]:
    """Return the answers of the published model by both rules, and those of our classifier."""
    X, y, X_test = halves.train[:, :INPUTS], halves.train[:, -1], halves.test[:, :INPUTS]
    settings.tell(f"{name}: published mode, {len(X):,} rows")
    model = published(NEURONS, settings.seed).fit(X, y)
    mean = np.asarray(model.predict(X_test), dtype=np.float64)
    low, high = np.asarray(model.predict_interval(X_test, confidence_level=0.95)).T
    label = np.where(mean > 0, 1.0, -1.0)
    settings.tell(f"{name}: elmband's classifier, {len(X):,} rows")
    ours = ELMSelectiveClassifier(NEURONS, coverage=0.1, random_state=settings.seed).fit(X, y)
    triage = ours.triage(X_test)
    return {
        PER_SAMPLE: Answers(label, np.abs(mean) / (high - low)),
        UNIFORM: Answers(label, np.abs(mean)),
        DEFAULT: Answers(np.asarray(triage.label, np.float64), np.asarray(triage.confidence)),
    }


def measured(name: str, rule: str, n: int, accuracy: float, found: Any) -> list[Row]:
    """Return rates at each share of most confident rows."""
    places = first_reaching(found.coverage, np.array(SHARES))
    return [
        {
            "split": name,
            "rule": rule,
            "training_rows": n,
            "accuracy": accuracy,
            "most_confident": share,
            "tpr": float(found.tpr[k]),
            "fpr": float(found.fpr[k]),
        }
        for share, k in zip(SHARES, places, strict=True)
    ]


def sentences(rows: list[Row]) -> list[str]:
    """Return the false positives of the few most confident rows."""
    found = []
    for row in rows:
        if row["most_confident"] != SHARES[0]:
            continue
        same = [r for r in rows if (r["split"], r["rule"]) == (row["split"], row["rule"])]
        rates = ", ".join(
            f"{percent(r['fpr'], 2)} of {percent(r['most_confident'], 0)}"
            for r in same[: len(SHARES) // 2]
        )
        found.append(
            f"{row['split'].capitalize()}, {row['rule']}: {percent(row['accuracy'])} of all pixels "
            f"right; false positives among the most confident: {rates}."
        )
    return found


_LOOK = {PER_SAMPLE: ("#1d5fa8", "-"), UNIFORM: ("#1d5fa8", "--"), DEFAULT: ("#1f6b43", "-")}


def draw(curves: dict[str, dict[str, Any]]) -> "Figure":
    """Draw true against false positive rates, a panel for each kind of halves."""
    figure = new_figure(13, 6)
    for ax, (name, found) in zip(figure.subplots(1, len(curves)), curves.items(), strict=True):
        for rule, rates in found.items():
            color, line = _LOOK[rule]
            display = ConfidentRatesDisplay(
                rates.coverage, rates.tpr, rates.fpr, coverages=SHARES, name=rule
            )
            display.plot(ax=ax, color=color, linestyle=line, linewidth=1.4)
            if rule != PER_SAMPLE:
                # Three texts at nearly one place would be none.
                for text in display.texts_:
                    text.remove()
        ax.margins(0.14, 0.09)
        ax.set_title(name, fontsize=11)
    return figure


EXPERIMENT = Experiment(
    name="skin",
    group="skin",
    title="Skin pixels",
    published=(
        "4,000,000 pixels of another set of photos, random halves: about 87 % right; with a "
        "threshold for each row almost no false positives among the 3 % most confident and none "
        "among the 1 % most confident, which one threshold for all rows does not reach."
    ),
    why=(
        "The photos of the paper cannot be had: these are yours, and may be harder or easier. "
        "Neighbouring pixels are nearly equal, so random halves of pixels leak from training to "
        "test, and only the split by photo tells what to expect of a new photo. The command "
        "takes 200,000 pixels unless it is asked for more."
    ),
    run=run,
    need="photos",
)
