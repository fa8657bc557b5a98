"""Width against coverage: a panel for each set and one for all sets together."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from benchmarks.quality.summary import OURS, Summary, finite
from matplotlib.figure import Figure

COLUMNS = 5
MARKERS = "osD^v<>PX*phd8"


def draw(summary: Summary, path: Path) -> None:
    """Draw coverage at 90 % over the mean width; up is safer, left is sharper."""
    panels = ["all sets", *summary.sets]
    n_rows = -(-len(panels) // COLUMNS)
    figure = Figure(figsize=(3.2 * COLUMNS, 2.7 * n_rows), layout="constrained")
    for place, name in enumerate(panels):
        axes = figure.add_subplot(n_rows, COLUMNS, place + 1)
        for k, method in enumerate(summary.with_intervals):
            x, y = _pooled(summary, method) if place == 0 else _point(summary, name, method)
            axes.plot(x, y, **_style(k, method))
        axes.axhline(90, color="0.6", linewidth=0.8, zorder=0)
        axes.set_title(name, fontsize=9)
        axes.tick_params(labelsize=7)
        label = "width / median width of the methods" if place == 0 else "NMPIW, %"
        axes.set_xlabel(label, fontsize=7)
        axes.set_ylabel("PICP, %", fontsize=7)
    handles, labels = figure.axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=7, fontsize=8)
    figure.savefig(path, dpi=120)


def _point(summary: Summary, name: str, method: str) -> tuple[float, float]:
    """Return mean width and coverage on a set, in per cent; an infinite width is not drawn."""
    width, coverage = (100 * summary.mean(name, method, key) for key in ("nmpiw90", "picp90"))
    return (width, coverage) if np.isfinite(width) else (np.nan, np.nan)


def _pooled(summary: Summary, method: str) -> tuple[float, float]:
    """Return geometric mean of relative widths and mean coverage over the sets of a method."""
    widths, coverages = [], []
    for name in summary.sets:
        width, coverage = _point(summary, name, method)
        if np.isnan(width):
            continue
        others = finite(_point(summary, name, other)[0] for other in summary.with_intervals)
        widths.append(width / np.median(others))
        coverages.append(coverage)
    if not widths:
        return np.nan, np.nan
    return float(np.exp(np.mean(np.log(widths)))), float(np.mean(coverages))


def _style(k: int, method: str) -> dict[str, Any]:
    ours = method == OURS
    return {
        "marker": MARKERS[k % len(MARKERS)],
        "color": "black" if ours else mpl.colormaps["tab20"](k % 20),
        "markersize": 8 if ours else 5,
        "linestyle": "none",
        "label": method,
        "zorder": 3 if ours else 2,
    }
