"""Estimated intervals with the band of σ_r, on artificial sets of several sizes and noises.

The band bounds the noise part of an interval: ŷ ± z · sqrt(r̂² ∓ 1.96 σ_r), where z is the
multiplier of the model, 1.96 as published.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from elmband.datasets import ArtificialData, Noise, make_heteroscedastic
from elmband.display import new_figure
from elmband.metrics import picp
from elmband_experiments.paper.base import Floats, Result, Row, Settings, percent
from elmband_experiments.paper.models import MODES
from elmband_experiments.paper.panels import (
    GRID,
    LEVEL,
    PALE,
    draw_estimate,
    draw_truth,
    frame,
    legend,
    limits_of,
    true_interval,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TEST_ROWS = 5000


@dataclass(frozen=True)
class Case:
    """One artificial set: its size, its noise, and which draw of it."""

    rows: int
    noise: Noise = "heteroscedastic"
    draw: int = 0

    @property
    def title(self) -> str:
        """Words above its panel."""
        noise = "" if isinstance(self.noise, str) else f", noise {self.noise:g}"
        again = f", draw {self.draw + 1}" if self.draw else ""
        return f"{self.rows:,} rows{noise}{again}"

    def data(self, seed: int) -> ArtificialData:
        """Return the rows."""
        drawn = seed + 1000 * self.draw
        return make_heteroscedastic(self.rows, noise=self.noise, random_state=drawn)


@dataclass(frozen=True, eq=False)
class Estimate:
    """What a model says on the grid; `band` (2, 2, n): lower and upper end, below and above."""

    mean: Floats
    interval: Floats
    band: Floats


def study(name: str, cases: Sequence[Case], settings: Settings) -> Result:
    """Fit both modes on every set, measure and draw them."""
    rows: list[Row] = []
    drawn: dict[str, list[Estimate]] = {mode: [] for mode in MODES}
    for number, case in enumerate(cases):
        data = case.data(settings.seed)
        for mode, make in MODES.items():
            settings.tell(f"{case.title}, {mode}", number / len(cases))
            model = make(settings.seed).fit(data.X, data.y)
            rows.append(measured(mode, case, model, settings.seed))
            drawn[mode].append(estimate(model))
    figure = draw(cases, drawn, settings.seed)
    return Result({name: rows}, {name: figure}, tuple(map(sentence, rows)))


def estimate(model: Any) -> Estimate:
    """Return mean, interval and the band of the noise variance on the grid."""
    X = GRID[:, None]
    mean, parts = model.predict(X), model.predict_variance(X, confidence_level=LEVEL)
    interval = np.asarray(model.predict_interval(X, confidence_level=LEVEL))
    z = (interval[:, 1] - interval[:, 0]) / 2 / np.sqrt(parts.total)
    halves = z * np.sqrt([parts.noise_lower, parts.noise_upper])
    return Estimate(mean, interval, np.stack([mean - halves, mean + halves]))


def measured(mode: str, case: Case, model: Any, seed: int) -> Row:
    """Return coverage of new rows, widths against the truth, and how much σ_r adds."""
    test = make_heteroscedastic(TEST_ROWS, noise=case.noise, random_state=seed + 20_000)
    interval = np.asarray(model.predict_interval(test.X, confidence_level=LEVEL))
    parts, truth = model.predict_variance(test.X), test.interval(LEVEL)
    width, true_width = interval[:, 1] - interval[:, 0], truth[:, 1] - truth[:, 0]
    return {
        "mode": mode,
        "rows": case.rows,
        "noise": case.noise,
        "draw": case.draw,
        "coverage": float(picp(test.y, interval)),
        "width_over_true": float(width.mean() / true_width.mean()),
        "noise_model_share": float(np.mean(parts.noise_model / parts.total)),
        "mean_model_share": float(np.mean(parts.mean_model / parts.total)),
    }


def sentence(row: Row) -> str:
    """Return what came out for one set and mode."""
    noise = "" if isinstance(row["noise"], str) else f", noise {row['noise']:g}"
    draw = f", draw {row['draw'] + 1}" if row["draw"] else ""
    return (
        f"{row['rows']:,} rows{noise}{draw}, {row['mode']}: {percent(row['coverage'])} of new rows "
        f"inside, {row['width_over_true']:.2f} times as wide as the truth; of the variance, "
        f"{percent(row['noise_model_share'])} come from doubt about the noise and "
        f"{percent(row['mean_model_share'])} from doubt about the mean."
    )


def draw(cases: Sequence[Case], drawn: dict[str, list[Estimate]], seed: int) -> "Figure":
    """Draw a row of panels for each mode, a column for each set."""
    figure = new_figure(max(4.2 * len(cases), 9), 7.8)
    axes = figure.subplots(len(drawn), len(cases), sharex=True, sharey="col", squeeze=False)
    for column, case in enumerate(cases):
        data, found = case.data(seed), {mode: drawn[mode][column] for mode in drawn}
        ends = [true_interval(case.noise), *(one.interval for one in found.values())]
        limits = limits_of(data, np.concatenate(ends))
        for ax, one in zip(axes[:, column], found.values(), strict=True):
            draw_band(ax, one)
            draw_truth(ax, data, case.noise)
            draw_estimate(ax, one.mean, one.interval, "estimated 95 % interval")
            frame(ax, case.title, limits)
            ax.tick_params(labelleft=True)
    for ax, mode in zip(axes[:, 0], drawn, strict=True):
        ax.set_ylabel(mode, fontweight="bold", fontsize=11)
    legend(figure, axes[0], columns=3 if len(cases) < 3 else 6)
    return figure


def draw_band(ax: "Axes", one: Estimate) -> None:
    """Shade what the noise variance may be, on both sides of the mean."""
    below, above = one.band
    for inner, outer in (below, above):
        ax.fill_between(GRID, inner, outer, color=PALE, alpha=0.75, linewidth=0)
    ax.fill_between([], [], color=PALE, alpha=0.75, linewidth=0, label=r"band of $\sigma_r$")


def runner(name: str, cases: Sequence[Case]) -> Callable[[Settings], Result]:
    """Return the run of an experiment that is nothing but such a study."""
    return lambda settings: study(name, cases, settings)
