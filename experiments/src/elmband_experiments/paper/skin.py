"""Experiment 8: skin pixels, and the true and false positives of the most confident part.

Pixels are written to files and read in chunks, so that memory does not grow with their number but
for some 150 bytes of each test pixel, which ranking them takes.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elmband import ELMSelectiveClassifier
from elmband.display import ConfidentRatesDisplay, new_figure
from elmband.metrics import confident_rates
from elmband.metrics.answered import first_reaching
from elmband_experiments.paper.apart import keep_apart
from elmband_experiments.paper.base import Experiment, Floats, Result, Row, Settings, percent
from elmband_experiments.paper.halves import INPUTS, Halves, pixels, rows_of, targets_of
from elmband_experiments.paper.models import published

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NEURONS = {"linear": INPUTS, "sigmoid": 200}
SHARES = (0.01, 0.03, 0.1, 0.3, 0.5, 0.7, 1.0)
FEW_PIXELS, MOST_POINTS, NEARLY_ALL = 6_000, 20_000, 0.9
BY_ROW, BY_PHOTO = "random halves", "split by photo"
PER_SAMPLE, UNIFORM, SAME, DEFAULT = (
    "published mode, per-sample",
    "published mode, uniform",
    "elmband's classifier, same neurons",
    "elmband's defaults",
)


class Answers(NamedTuple):
    """Labels ±1 of rows, and how certain each is."""

    label: Floats
    confidence: Floats


def size(settings: Settings) -> int:
    """Return the number of pixels."""
    return min(FEW_PIXELS, settings.pixels) if settings.quick else settings.pixels


def run(settings: Settings) -> Result:
    """Train on both kinds of halves, and rank the test pixels by each rule."""
    rows: list[Row] = []
    curves: dict[str, dict[str, Any]] = {}
    for number, name in enumerate((BY_ROW, BY_PHOTO)):
        settings.tell(f"{name}: pixels", number / 2)
        curves[name] = {}
        with pixels(settings, size(settings), by_photo=name == BY_PHOTO) as halves:
            y = targets_of(halves.test)
            for rule, answers in answered(halves, settings, name, number / 2):
                found = confident_rates(y, answers.label, answers.confidence)
                curves[name][rule] = thinned(found)
                rows += measured((name, rule), len(rows_of(halves.train)), y, answers, found)
    return Result({"skin": rows}, {"skin": draw(curves)}, tuple(sentences(rows)))


def answered(
    halves: Halves, settings: Settings, name: str, done: float = 0.0
) -> Iterator[tuple[str, Answers]]:
    """Yield the answers of the published model by both rules, and those of our classifiers.

    One rule after the other, as those of millions of pixels need some room.
    """
    train, test = rows_of(halves.train), rows_of(halves.test)
    settings.tell(f"{name}: published mode, {len(train):,} rows", done + 0.06)
    model = published(NEURONS, settings.seed).fit(train)
    mean, interval = model.predict(test, confidence_level=0.95)
    label, width = np.where(mean > 0, 1.0, -1.0), interval[:, 1] - interval[:, 0]
    del interval
    yield PER_SAMPLE, Answers(label, np.abs(mean) / width)
    yield UNIFORM, Answers(label, np.abs(mean))
    del mean, label, width
    options: dict[str, Any] = {SAME: {"n_neurons": NEURONS}, DEFAULT: {}}
    for rule, part in ((SAME, 0.1), (DEFAULT, 0.15)):
        settings.tell(f"{name}: {rule}, {len(train):,} rows", done + part)
        ours = ELMSelectiveClassifier(
            coverage=0.1, random_state=settings.seed, verbose=False, **options[rule]
        ).fit(train)
        label = np.asarray(ours.predict(test), np.float64)
        yield rule, Answers(label, np.asarray(ours.confidence(test), np.float64))


def thinned(found: Any) -> Any:
    """Return a curve with no more points than can be seen, the marked ones among them."""
    marked = first_reaching(found.coverage, np.array(SHARES))
    some = np.linspace(0, len(found.coverage) - 1, MOST_POINTS).astype(np.intp)
    at = np.union1d(marked, some)
    return found._replace(**{name: getattr(found, name)[at] for name in found._fields})


def measured(kind: tuple[str, str], n: int, y: Floats, answers: Answers, found: Any) -> list[Row]:
    """Return rates at each share of most confident rows."""
    places = first_reaching(found.coverage, np.array(SHARES))
    order = np.argsort(-answers.confidence, kind="stable")
    return [
        {
            "split": kind[0],
            "rule": kind[1],
            "training_rows": n,
            "accuracy": float(np.mean(answers.label == y)),
            "most_confident": share,
            "tpr": float(found.tpr[k]),
            "fpr": float(found.fpr[k]),
            "called_not_skin": float(
                np.mean(answers.label[order[: int(np.ceil(share * len(y)))]] < 0)
            ),
        }
        for share, k in zip(SHARES, places, strict=True)
    ]


def sentences(rows: list[Row]) -> list[str]:
    """Return the false positives of the few most confident rows, and which class these are."""
    few = [row for row in rows if row["most_confident"] == SHARES[0]]
    found = []
    for row in few:
        same = [r for r in rows if (r["split"], r["rule"]) == (row["split"], row["rule"])]
        rates = ", ".join(
            f"{percent(r['fpr'], 2)} of {percent(r['most_confident'], 0)}"
            for r in same[: len(SHARES) // 2]
        )
        found.append(
            f"{row['split'].capitalize()}, {row['rule']}: {percent(row['accuracy'])} of all pixels "
            f"right; false positives among the most confident: {rates}."
        )
    return [*found, of_which_class(few)]


def of_which_class(few: list[Row]) -> str:
    """Say in words of which class the most confident rows are, by each rule."""
    shares: dict[str, list[float]] = {}
    for row in few:
        shares.setdefault(row["rule"], []).append(row["called_not_skin"])
    nearly = [rule for rule, found in shares.items() if min(found) > NEARLY_ALL]
    told = [
        f"by {rule} {percent(min(found))} to {percent(max(found))}"
        for rule, found in shares.items()
        if rule not in nearly
    ]
    if nearly:
        least = min(min(shares[rule]) for rule in nearly)
        # What would be written as 100.0 % is all of them to a reader.
        many = "all" if least > 0.9995 else f"almost all, {percent(least)} or more,"
        rules = "; ".join(nearly)
        told.insert(0, f"{many} by {rules}, so that few of them could be false positives")
    head = f"Of the {percent(SHARES[0], 0)} most confident pixels, these are called not skin"
    return f"{head}: {'; '.join(told)}."


_LOOK = {
    PER_SAMPLE: ("#1d5fa8", "-"),
    UNIFORM: ("#1d5fa8", "--"),
    SAME: ("#1f6b43", "--"),
    DEFAULT: ("#1f6b43", "-"),
}


def draw(curves: dict[str, dict[str, Any]]) -> "Figure":
    """Draw true against false positive rates, a panel for each kind of halves."""
    figure = new_figure(13, 6)
    panels = list(zip(figure.subplots(1, len(curves)), curves.items(), strict=True))
    texts = []
    for ax, (name, found) in panels:
        for rule, rates in found.items():
            color, line = _LOOK[rule]
            display = ConfidentRatesDisplay(
                rates.coverage, rates.tpr, rates.fpr, coverages=SHARES, name=rule
            )
            display.plot(ax=ax, color=color, linestyle=line, linewidth=1.4)
            if rule == PER_SAMPLE:
                texts.append(display.texts_)
            else:
                # Three texts at nearly one place would be none.
                for text in display.texts_:
                    text.remove()
        ax.margins(0.14, 0.09)
        ax.set_title(name, fontsize=11)
    # Only now is it known where all lines are.
    for (ax, _), of_panel in zip(panels, texts, strict=True):
        keep_apart(ax, of_panel)
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
        "takes 200,000 pixels unless it is asked for more. Pixels are read from files in chunks, "
        "so that the strength of the ridge is chosen by generalised cross-validation."
    ),
    run=run,
    need="photos",
    seconds=lambda settings: 12.0 + 1.2e-4 * size(settings),
)
