"""Rates of the most certain part of the skin pixels, and risk against coverage on every set."""

from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.abstain.answers import AnswerFiles, Judged
from benchmarks.abstain.data import SETS
from benchmarks.abstain.rivals import METHODS
from benchmarks.abstain.summary import Summary
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from elmband.display import ConfidentRatesDisplay, RiskCoverageDisplay
from elmband.metrics import confident_rates, risk_coverage_curve

GRID = np.linspace(0.005, 1, 400)
# Half of the rows would be written over the most certain tenth.
MARKED = (0.01, 0.03, 0.05, 0.1, 0.3, 1.0)
RATES = np.geomspace(1e-5, 1e-1, 60)
UNIFORM, RULES = "elm-margin", ("elm-interval", "elm-probability")
COLOURS = {
    "elm-margin": "0.45",
    "elm-interval": "tab:orange",
    "elm-model": "tab:olive",
    "elm-probability": "tab:blue",
    "elm-log": "tab:cyan",
    "elm-ensemble": "tab:purple",
    "elmband": "black",
    "logistic": "tab:pink",
    "boosting": "tab:green",
    "boosting-calibrated": "tab:red",
}


def draw_rates(summary: Summary, files: AnswerFiles, path: Path) -> bool:
    """Draw the rates of two rules beside one threshold for all, as the last figure of the paper.

    The third panel shows the share of positive rows that are found: a part that is nearly all of
    one class looks no better there than it is.
    """
    names = [name for name in ("skin-2m", "skin-200k") if name in summary.sets]
    found = {method: files.read(names[0], method, 0) for method in METHODS} if names else {}
    judged = {method: answers for method, answers in found.items() if answers is not None}
    if not {UNIFORM, *RULES} <= set(judged):
        return False
    figure = Figure(figsize=(13, 4.2), layout="constrained")
    *rates, right = figure.subplots(1, 3)
    for axes, rule in zip(rates, RULES, strict=True):
        for method in (UNIFORM, rule):
            display = ConfidentRatesDisplay.from_predictions(
                *judged[method][:3],
                coverages=MARKED,
                name=METHODS[method].label,
                ax=axes,
                **_style(method),
            )
            if method == UNIFORM:
                _write_below(display)
        axes.xaxis.set_major_locator(MaxNLocator(6))
        axes.legend(loc="center right", frameon=False, fontsize=9)
        axes.set_title("rates among the answered", fontsize=10)
    _draw_found(right, judged)
    figure.savefig(path, dpi=120)
    return True


def _write_below(display: ConfidentRatesDisplay) -> None:
    """Make room for the percentages of another curve, which ends at the same point."""
    display.texts_.pop().remove()
    for text in display.texts_:
        text.set(position=(5, -2), verticalalignment="top")


def _draw_found(axes: Axes, judged: dict[str, Judged]) -> None:
    for method, answers in judged.items():
        axes.plot(100 * RATES, 100 * found(answers), label=METHODS[method].label, **_style(method))
    axes.set(
        xscale="log",
        xlabel="false positives, % of all negatives, at most",
        ylabel="positives found, % of all",
    )
    axes.set_title("positive rows that are found", fontsize=10)
    axes.xaxis.set_major_formatter("{x:g}")
    axes.legend(frameon=False, fontsize=8)


def found(judged: Judged) -> NDArray[np.float64]:
    """Return the share of positive rows that are found at each of `RATES`.

    It is `true_positives_at_fpr` of all of them at once: sorting millions of rows takes a while.
    """
    rates = confident_rates(*judged[:3], of="all")
    parts = np.searchsorted(rates.fpr, RATES * (1 + 1e-12), side="right")
    return np.append(0.0, rates.tpr)[parts]


def draw_curves(summary: Summary, files: AnswerFiles, path: Path) -> bool:
    """Draw risk against coverage, the mean over splits, for every set with rivals on it.

    Much worse methods leave the panels at the top.
    """
    names = [name for name in summary.sets if not SETS[name].methods]
    if not names:
        return False
    rows = -(-len(names) // 2)
    figure = Figure(figsize=(10, 3.6 * rows + 0.6), layout="constrained")
    for place, name in enumerate(names):
        axes = figure.add_subplot(rows, 2, place + 1)
        methods = summary.methods(name)
        for method in methods:
            risk = _mean_risk(summary, files, name, method)
            display = RiskCoverageDisplay(GRID, risk, name=METHODS[method].label)
            display.plot(ax=axes, legend=False, label=METHODS[method].label, **_style(method))
            # One dot and one line for each of ten methods would hide the curves.
            display.level_.remove()
            display.base_.remove()
        top = 1.1 * np.median([summary.part(name, method, 1.0, "risk") for method in methods])
        axes.set_ylim(-0.02 * top, top)
        axes.set_title(name, fontsize=10)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=5, fontsize=8, frameon=False)
    figure.savefig(path, dpi=120)
    return True


def _mean_risk(summary: Summary, files: AnswerFiles, name: str, method: str) -> NDArray[np.float64]:
    """Return the risk at every coverage of `GRID`, the mean over splits; NaN without answers."""
    found = [files.read(name, method, k) for k in summary.good(name, method)]
    curves = [risk_coverage_curve(*judged[:3]) for judged in found if judged is not None]
    places = [np.searchsorted(curve.coverage, GRID * (1 - 1e-12)) for curve in curves]
    risks = [curve.risk[place] for curve, place in zip(curves, places, strict=True)]
    return np.mean(risks, axis=0) if risks else np.full(len(GRID), np.nan)


def _style(method: str) -> dict[str, Any]:
    style = "--" if method == UNIFORM else "-"
    return {"color": COLOURS[method], "linestyle": style, "linewidth": 1.3}
