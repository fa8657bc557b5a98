"""All experiments, in the order of the paper."""

from collections.abc import Iterable

from elmband_experiments.paper import (
    constant,
    kinds,
    runtime,
    sizes,
    skin,
    table,
    thirty,
    truth,
    uniform,
)
from elmband_experiments.paper.base import Experiment, Group

EXPERIMENTS: tuple[Experiment, ...] = tuple(
    module.EXPERIMENT
    for module in (kinds, truth, sizes, constant, thirty, table, uniform, skin, runtime)
)


def chosen(groups: Iterable[Group]) -> list[Experiment]:
    """Return the experiments of some groups, in order."""
    wanted = set(groups)
    return [experiment for experiment in EXPERIMENTS if experiment.group in wanted]
