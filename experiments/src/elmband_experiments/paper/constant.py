"""Experiment 4: the same function with noise that does not depend on x."""

from elmband_experiments.paper.bands import Case, runner
from elmband_experiments.paper.base import Experiment

LARGE, SMALL = 0.5, 0.1

EXPERIMENT = Experiment(
    name="constant",
    group="figures",
    title="Noise that is the same everywhere",
    published=(
        "Four panels, two strengths of noise and two sizes: more noise makes the mean and the "
        "band worse, and the true interval rarely leaves the estimated bounds."
    ),
    why="Strengths and sizes are not stated; ours are 0.5 and 0.1, with 100 and 1,000 rows.",
    run=runner("constant", [Case(rows, noise) for noise in (LARGE, SMALL) for rows in (100, 1000)]),
    seconds=lambda _: 1.8,
)
