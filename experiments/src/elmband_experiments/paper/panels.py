"""What panels of artificial data share: the truth, the rows, and what is laid over them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import ndtri

from elmband.datasets import DOMAIN, ArtificialData, Noise, noise_std, projection
from elmband_experiments.paper.base import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GRID = np.linspace(*DOMAIN, 241)
LEVEL = 0.95
Z = float(ndtri((1 + LEVEL) / 2))
BLUE, PALE, ORANGE = "#1d5fa8", "#a9c6e6", "#b4501c"
MOST_DRAWN = 1000


def true_interval(noise: Noise = "heteroscedastic") -> Floats:
    """Return the true interval on the grid, (n, 2)."""
    mean, half = projection(GRID), Z * noise_std(GRID, noise)
    return np.stack([mean - half, mean + half], axis=-1)


def draw_truth(ax: "Axes", data: ArtificialData, noise: Noise = "heteroscedastic") -> None:
    """Draw rows as dots, the true mean as a line and the true interval as thin dashes."""
    x, y = data.X[:MOST_DRAWN, 0], data.y[:MOST_DRAWN]
    size, alpha = (9, 0.7) if len(x) < 300 else (5, 0.35)
    ax.scatter(x, y, s=size, color="black", alpha=alpha, linewidths=0, label="training rows")
    ax.plot(GRID, projection(GRID), color="black", linewidth=1.1, label="true mean")
    ends = ax.plot(GRID, true_interval(noise), color="black", linewidth=0.8, dashes=(4, 3))
    ends[0].set_label("true 95 % interval")


def draw_estimate(ax: "Axes", mean: Floats, interval: Floats, name: str, color: str = BLUE) -> None:
    """Draw an estimated mean as thick dashes, and its interval as two lines."""
    ax.plot(GRID, mean, color=color, linewidth=2.2, dashes=(3, 1.5), label="estimated mean")
    ends = ax.plot(GRID, interval, color=color, linewidth=1.3)
    ends[0].set_label(name)


def frame(ax: "Axes", title: str, limits: tuple[float, float]) -> None:
    """Give a panel its title and the range that its row shares."""
    ax.set_title(title, fontsize=10.5)
    ax.set_xlim(*DOMAIN)
    ax.set_ylim(*limits)
    ax.label_outer()


def limits_of(data: ArtificialData, interval: Floats) -> tuple[float, float]:
    """Return a range that holds rows and the ends of intervals, with a margin."""
    low = min(float(data.y.min()), float(interval.min()))
    high = max(float(data.y.max()), float(interval.max()))
    margin = 0.08 * (high - low)
    return low - margin, high + margin


def legend(figure: Any, axes: Any, columns: int = 6) -> None:
    """Write one legend below all panels, each name once."""
    named: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(
        list(named.values()),
        list(named),
        loc="outside lower center",
        ncols=min(columns, len(named)),
        frameon=False,
        fontsize=9.5,
    )
