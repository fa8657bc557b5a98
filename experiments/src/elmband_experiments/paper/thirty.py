"""Experiment 5: thirty rows, too few to learn the function."""

from elmband_experiments.paper.bands import Case, runner
from elmband_experiments.paper.base import Experiment

EXPERIMENT = Experiment(
    name="thirty",
    group="figures",
    title="Thirty rows",
    published=(
        "Two panels: the mean misses the function, the predicted noise is unreliable, and its "
        "variance widens the interval, sometimes beyond what is needed."
    ),
    why=(
        "Thirty rows decide everything, and those of the paper are not known: two draws of ours "
        "are shown, and another seed gives other panels. Residuals of thirty training rows are "
        "too small for eleven neurons, so that the published mode may cover too little; elmband "
        "takes residuals of rows left out, and rather covers too much."
    ),
    run=runner("thirty", (Case(30), Case(30, draw=1))),
    seconds=lambda _: 0.8,
)
