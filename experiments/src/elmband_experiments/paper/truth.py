"""Experiment 2: the artificial set with its true intervals."""

from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure
from elmband.metrics import picp
from elmband_experiments.paper.base import Experiment, Result, Settings, percent
from elmband_experiments.paper.panels import (
    LEVEL,
    draw_truth,
    frame,
    legend,
    limits_of,
    true_interval,
)

ROWS, MANY = 500, 100_000


def run(settings: Settings) -> Result:
    """Draw the set, and count how many of many rows lie within the truth."""
    data = make_heteroscedastic(ROWS, random_state=settings.seed)
    many = make_heteroscedastic(MANY, random_state=settings.seed)
    coverage = float(picp(many.y, many.interval(LEVEL)))
    figure = new_figure(7.4, 5.2)
    ax = figure.subplots()
    draw_truth(ax, data)
    frame(ax, f"{ROWS} rows of the artificial set", limits_of(data, true_interval()))
    ax.set_xlabel("x")
    ax.set_ylabel("y")
    legend(figure, [ax])
    ratio = float(many.std.max() / many.std.min())
    row = {"rows": MANY, "nominal": LEVEL, "coverage": coverage, "largest_over_least_std": ratio}
    sentence = (
        f"{percent(coverage, 2)} of {MANY:,} rows lie within the true 95 % intervals; the noise "
        f"varies by a factor of {ratio:.1f}. There is no model here, so both modes are the same."
    )
    return Result({"truth": [row]}, {"truth": figure}, (sentence,))


EXPERIMENT = Experiment(
    name="truth",
    group="figures",
    title="The artificial set",
    published="One panel: rows of a heteroscedastic set with the true 95 % intervals of its noise.",
    why=(
        "The paper draws its set without giving the formulas. Ours is "
        "f(x) = sin(1.5 x) + 0.3 x with noise of standard deviation 0.06 + 0.54 exp(-(x - 1)²/2)."
    ),
    run=run,
)
