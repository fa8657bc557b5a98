"""Experiment 3: estimated intervals with the band of σ_r, with less and more data."""

from elmband_experiments.paper.bands import Case, runner
from elmband_experiments.paper.base import Experiment

EXPERIMENT = Experiment(
    name="sizes",
    group="figures",
    title="Less and more data",
    published=(
        "Two panels: with little data the band of the predicted noise is broad, with more of it "
        "the interval is given by the predicted squared residuals alone. No numbers are given."
    ),
    why=(
        "The sizes are not stated; ours are 100 and 1,000 rows. The published sum adds the "
        "variance of predicted squares, in units of y⁴, to variances in units of y²: it is taken "
        "on standardised targets here. "
        "elmband's defaults bound the logarithm of the noise instead, so that their band never "
        "touches zero, and correct the multiplier by rows left out."
    ),
    run=runner("sizes", (Case(100), Case(1000))),
    seconds=lambda _: 0.7,
)
