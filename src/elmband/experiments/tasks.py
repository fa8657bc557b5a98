"""The four real tasks of the paper, and what it reports of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmband.experiments.base import Floats

TRAINING_SHARE, LEVEL = 0.7, 0.9


class Published(NamedTuple):
    """Coverage and NMPIW in percent and milliseconds, the median of 30 splits."""

    picp: float
    nmpiw: float
    milliseconds: float


@dataclass(frozen=True)
class Task:
    """A task: its file in the data folder, its target and inputs, and the published row."""

    name: str
    title: str
    file: str
    target: str
    features: tuple[str, ...]
    published: Published


class Split(NamedTuple):
    """Rows to train on and rows to judge by."""

    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats


_CONCRETE = (
    "cement",
    "blast_furnace_slag",
    "fly_ash",
    "water",
    "superplasticizer",
    "coarse_aggregate",
    "fine_aggregate",
    "age",
)
# The categories sex, smokstat and vituse are numbers here, as in the paper.
_PLASMA = (
    "age",
    "sex",
    "smokstat",
    "quetelet",
    "vituse",
    "calories",
    "fat",
    "fiber",
    "alcohol",
    "cholesterol",
    "betadiet",
    "retdiet",
)
_PLANT = (
    "gas_flow",
    "turbine_valves_opening",
    "superheater_spray_flow",
    "gas_dampers",
    "air_flow",
)
_PLANT_FILE = "powerplant/powerplant.csv"

TASKS = {
    task.name: task
    for task in (
        Task(
            "concrete",
            "Concrete compressive strength",
            "concrete/concrete.csv.gz",
            "compressive_strength",
            _CONCRETE,
            Published(91.59, 34.01, 92),
        ),
        Task(
            "plasma",
            "Plasma beta-carotene",
            "plasma/plasma.csv",
            "betaplasma",
            _PLASMA,
            Published(92.63, 40.66, 36),
        ),
        Task(
            "pressure",
            "Steam pressure",
            _PLANT_FILE,
            "steam_pressure",
            _PLANT,
            Published(93.33, 39.29, 27),
        ),
        Task(
            "temperature",
            "Main steam temperature",
            _PLANT_FILE,
            "main_steam_temperature",
            _PLANT,
            Published(88.33, 18.38, 35),
        ),
    )
}


def load(task: Task, folder: Path) -> tuple[Floats, Floats]:
    """Read the inputs and the target of a task."""
    path = folder / task.file
    if not path.is_file():
        raise FileNotFoundError(
            f"{path} does not exist; let ELMBAND_DATA name the folder with the real data sets."
        )
    rows: Any = np.genfromtxt(path, delimiter=",", names=True, dtype=np.float64, encoding="utf-8")
    columns = [rows[name] for name in (*task.features, task.target)]
    if any(np.isnan(column).any() for column in columns):
        raise ValueError(f"{path} holds values that are not numbers; mend the file.")
    return np.column_stack(columns[:-1]), np.ascontiguousarray(columns[-1])


def splits(X: Floats, y: Floats, count: int, seed: int) -> Iterator[Split]:
    """Yield random splits, 70 % of the rows for training."""
    cut = int(TRAINING_SHARE * len(y))
    for k in range(count):
        train, test = np.split(np.random.default_rng([seed, k]).permutation(len(y)), [cut])
        yield Split(X[train], y[train], X[test], y[test])
