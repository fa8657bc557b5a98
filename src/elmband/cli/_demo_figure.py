"""The figure of ``elmband demo``."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from elmband.cli._demo_task import Floats, Outcome, Task
from elmband.datasets import DOMAIN, noise_std, projection
from elmband.display import IntervalDisplay, new_figure
from elmband.ground.wording import percent_exactly

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DRAWN_ROWS = 500
GRID = np.linspace(*DOMAIN, 241)


def draw(task: Task, outcomes: list[Outcome], level: float) -> "Figure":
    """Draw the artificial data with the truth, then each kind of interval over them."""
    figure = new_figure(16, 4.8)
    axes = figure.subplots(1, 1 + len(outcomes), sharex=True, sharey=True)
    draw_title(axes[0], "data and truth", f"true interval at {percent_exactly(level)}")
    for ax, outcome in zip(axes[1:], outcomes, strict=True):
        draw_outcome(ax, outcome)
    for ax in axes:
        draw_data(ax, task, level)
        ax.label_outer()
    handles, labels = axes[-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def draw_title(ax: "Axes", title: str, subtitle: str) -> None:
    """Write two lines above a panel."""
    ax.set_title(title, fontsize=12, fontweight="bold", pad=22)
    ax.text(0.5, 1.02, subtitle, fontsize=9.5, color="0.3", ha="center", transform=ax.transAxes)


def draw_data(ax: "Axes", task: Task, level: float) -> None:
    """Draw training rows, the true mean and the ends of the true interval."""
    mean, half = projection(GRID), ndtri((1 + level) / 2) * noise_std(GRID)
    x, y = task.X[:DRAWN_ROWS, 0], task.y[:DRAWN_ROWS]
    ax.scatter(x, y, s=10, color="0.35", alpha=0.6, linewidths=0, label="training rows")
    ax.plot(GRID, mean, color="black", linewidth=0.9, label="true mean")
    ends = ax.plot(GRID, around(mean, half), color="black", linewidth=0.9, dashes=(5, 3))
    ends[0].set_label("true interval")
    ax.set(xlim=DOMAIN, xticks=range(-2, 3), xlabel="x", ylabel="y")
    ax.spines[["top", "right"]].set_visible(False)


def draw_outcome(ax: "Axes", outcome: Outcome) -> None:
    """Draw one kind of interval as a band around its own mean, its coverage above."""
    interval = outcome.predict(GRID[:, np.newaxis])
    display = IntervalDisplay(GRID, None, interval.mean(axis=1), interval)
    display.plot(ax=ax, color=outcome.kind.color, legend=False)
    draw_title(
        ax,
        outcome.kind.name,
        f"covers {outcome.picp:.0%}; noisiest fifth {outcome.noisiest:.0%}, "
        f"quietest {outcome.quietest:.0%}",
    )


def around(mean: Floats, half: Floats) -> Floats:
    """Return intervals with the given centre and half width."""
    return np.stack([mean - half, mean + half], axis=-1)
