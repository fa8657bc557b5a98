"""Experiment 1: what uniform, confidence and prediction intervals say of the same rows."""

from typing import TYPE_CHECKING, Any

import numpy as np

from elmband.datasets import ArtificialData, make_heteroscedastic
from elmband.display import new_figure
from elmband.metrics import picp
from elmband_experiments.paper.base import Experiment, Floats, Result, Row, Settings, percent
from elmband_experiments.paper.models import MODES
from elmband_experiments.paper.panels import (
    GRID,
    LEVEL,
    Z,
    draw_estimate,
    draw_truth,
    frame,
    legend,
    limits_of,
    true_interval,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROWS, TEST_ROWS = 500, 5000
KINDS = ("Uniform", "Confidence", "Per-sample prediction")


def run(settings: Settings) -> Result:
    """Fit both modes once, and take all kinds of interval from them."""
    data = make_heteroscedastic(ROWS, random_state=settings.seed)
    test = make_heteroscedastic(TEST_ROWS, random_state=settings.seed + 10_000)
    rows: list[Row] = []
    drawn: dict[str, tuple[Floats, list[Floats]]] = {}
    for number, (mode, make) in enumerate(MODES.items()):
        settings.tell(mode, number / len(MODES))
        model = make(settings.seed).fit(data.X, data.y)
        for kind, interval in zip(KINDS, intervals(model, data, test.X), strict=True):
            rows.append(measured(mode, kind, test, interval))
        drawn[mode] = model.predict(GRID[:, None]), intervals(model, data, GRID[:, None])
    figure = draw(data, drawn)
    return Result({"kinds": rows}, {"kinds": figure}, tuple(sentences(rows)))


def intervals(model: Any, data: ArtificialData, X: Floats) -> list[Floats]:
    """Return ŷ ± z · RMSE of training rows, ŷ ± z · σ_y, and the prediction interval."""
    mean = model.predict(X)
    uniform = Z * np.sqrt(np.mean((data.y - model.predict(data.X)) ** 2))
    confidence = Z * np.sqrt(model.predict_variance(X).mean_model)
    around = [np.stack([mean - h, mean + h], axis=-1) for h in (uniform, confidence)]
    return [*around, np.asarray(model.predict_interval(X, confidence_level=LEVEL))]


def measured(mode: str, kind: str, test: ArtificialData, interval: Floats) -> Row:
    """Return what an interval covers, also where noise is least and largest."""
    quiet, noisy = np.quantile(test.std, [0.2, 0.8])
    true_width = 2 * Z * test.std
    width = interval[:, 1] - interval[:, 0]
    return {
        "mode": mode,
        "interval": kind,
        "coverage": float(picp(test.y, interval)),
        "coverage_quietest_fifth": _covered(test, interval, test.std <= quiet),
        "coverage_noisiest_fifth": _covered(test, interval, test.std >= noisy),
        "width_over_true": float(width.mean() / true_width.mean()),
    }


def _covered(test: ArtificialData, interval: Floats, part: Any) -> float:
    return float(picp(test.y[part], interval[part]))


def sentences(rows: list[Row]) -> list[str]:
    """Return what came out."""
    return [
        f"{row['interval']} intervals, {row['mode']}: {percent(row['coverage'])} of new "
        f"rows inside, {percent(row['coverage_quietest_fifth'])} where noise is least and "
        f"{percent(row['coverage_noisiest_fifth'])} where it is largest."
        for row in rows
    ]


def draw(data: ArtificialData, drawn: dict[str, tuple[Floats, list[Floats]]]) -> "Figure":
    """Draw the truth and three kinds of interval, a row of panels for each mode."""
    figure = new_figure(15, 7.4)
    axes = figure.subplots(len(drawn), 1 + len(KINDS), sharex=True, sharey=True)
    ends = [interval for _, found in drawn.values() for interval in found]
    limits = limits_of(data, np.concatenate([true_interval(), *ends]))
    for line, (mode, (mean, found)) in zip(axes, drawn.items(), strict=True):
        draw_truth(line[0], data)
        frame(line[0], "rows and truth", limits)
        line[0].set_ylabel(mode, fontweight="bold", fontsize=11)
        for ax, kind, interval in zip(line[1:], KINDS, found, strict=True):
            draw_truth(ax, data)
            draw_estimate(ax, mean, interval, "estimated interval")
            frame(ax, kind, limits)
    legend(figure, axes[0])
    return figure


EXPERIMENT = Experiment(
    name="kinds",
    group="figures",
    title="Kinds of interval",
    published=(
        "Four panels on a toy set: the truth; uniform intervals, which are wrong nearly "
        "everywhere; confidence intervals, far too narrow for targets; and per-sample prediction "
        "intervals, which follow the noise. No numbers are given."
    ),
    why=(
        "The toy set of the paper is not described; ours has a known mean and noise that varies "
        "tenfold. The mean of the published mode has eleven neurons, which is all it can bend."
    ),
    run=run,
    seconds=lambda _: 1.0,
)
