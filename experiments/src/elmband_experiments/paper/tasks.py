"""The four real tasks of the paper, and what it reports of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elmband_experiments.datasets.catalogue import CONCRETE, PLANT_INPUTS, PLASMA, POWERPLANT, Entry
from elmband_experiments.datasets.places import read_columns
from elmband_experiments.datasets.table import chosen
from elmband_experiments.paper.base import Floats

TRAINING_SHARE, LEVEL = 0.7, 0.9


class Published(NamedTuple):
    """Coverage and NMPIW in percent and milliseconds, the median of 30 splits."""

    picp: float
    nmpiw: float
    milliseconds: float


@dataclass(frozen=True)
class Task:
    """A task: its data set, its target and inputs, and the published row."""

    name: str
    title: str
    entry: Entry
    target: str
    features: tuple[str, ...]
    published: Published

    @property
    def file(self) -> str:
        """Its file in a folder with the real data sets."""
        return self.entry.file

    @property
    def in_order(self) -> bool:
        """Whether rows come one after the other in time, so that random splits leak."""
        return self.entry.name == POWERPLANT.name


class Split(NamedTuple):
    """Rows to train on and rows to judge by."""

    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats


TASKS = {
    task.name: task
    for task in (
        Task(
            "concrete",
            "Concrete compressive strength",
            CONCRETE,
            "compressive_strength",
            CONCRETE.columns[:-1],
            Published(91.59, 34.01, 92),
        ),
        # The categories sex, smokstat and vituse are numbers here, as in the paper.
        Task(
            "plasma",
            "Plasma beta-carotene",
            PLASMA,
            "betaplasma",
            PLASMA.columns[:-2],
            Published(92.63, 40.66, 36),
        ),
        Task(
            "pressure",
            "Steam pressure",
            POWERPLANT,
            "steam_pressure",
            PLANT_INPUTS,
            Published(93.33, 39.29, 27),
        ),
        Task(
            "temperature",
            "Main steam temperature",
            POWERPLANT,
            "main_steam_temperature",
            PLANT_INPUTS,
            Published(88.33, 18.38, 35),
        ),
    )
}


def load(
    task: Task, folder: Path | None = None, *, download: bool = False
) -> tuple[Floats, Floats]:
    """Read the inputs and the target of a task from the folder, the cache or its source."""
    columns = read_columns(task.entry, folder, fetch=download)
    return chosen(columns, task.features, task.target)


def splits(X: Floats, y: Floats, count: int, seed: int) -> Iterator[Split]:
    """Yield random splits, 70 % of the rows for training."""
    for k in range(count):
        yield _cut(X, y, np.random.default_rng([seed, k]).permutation(len(y)))


def by_time(X: Floats, y: Floats) -> Split:
    """Return the split of rows in order: the first 70 % for training, what comes after to judge."""
    return _cut(X, y, np.arange(len(y)))


def _cut(X: Floats, y: Floats, order: NDArray[np.intp]) -> Split:
    train, test = np.split(order, [int(TRAINING_SHARE * len(y))])
    return Split(X[train], y[train], X[test], y[test])
