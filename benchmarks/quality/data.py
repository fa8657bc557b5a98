"""The sets of the benchmark and their splits, all as float64 arrays.

Real sets are read from the folder named by the environment variable ``ELMBAND_DATA``; the
artificial ones are drawn here. Every split is the same on every machine.

=================  ===============================================================================
``paper``          the four tasks of the paper, 30 random splits, 70 % for training
``uci``            nine UCI sets with the standard splits of the probabilistic back-propagation,
                   MC-dropout and deep-ensembles papers
``het``            classic examples of noise that depends on x, 20 random splits, 90 % for training
``tab``            tables on which trees do well, 5 random splits, 70 % for training
``art``            one input and known noise; each of 10 splits is a fresh draw with 2,000 test rows
=================  ===============================================================================
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmband.datasets import Noise, make_heteroscedastic
from elmband_experiments.paper.tasks import TASKS

Floats = NDArray[np.float64]
Splitter = Callable[[int], "Split"]

ARTIFICIAL_TEST_ROWS = 2000
SPLIT_SEED = 20240229


@dataclass(frozen=True, eq=False)
class Split:
    """Rows to train on and rows to judge by.

    Attributes
    ----------
    rows : int
        Size of the whole set; of an artificial one, its training rows.
    noise : ndarray of shape (n_test,) or None
        True standard deviation of the noise at each test row, where it is known.
    """

    X_train: Floats
    y_train: Floats
    X_test: Floats
    y_test: Floats
    rows: int
    noise: Floats | None = None


@dataclass(frozen=True)
class BenchmarkSet:
    """A named set: `load` reads it and returns the function from k to the k-th split."""

    name: str
    n_splits: int
    load: Callable[[], Splitter]

    @property
    def group(self) -> str:
        """First part of the name: paper, uci, het, tab or art."""
        return self.name.split("-", maxsplit=1)[0]


def data_folder() -> Path:
    """Return the folder named by ``ELMBAND_DATA``, or say what is missing."""
    name = os.environ.get("ELMBAND_DATA", "")
    if not name:
        raise ValueError(
            "ELMBAND_DATA is not set: let it name the folder with the data, or choose --sets art"
        )
    if not Path(name).is_dir():
        raise ValueError(f"ELMBAND_DATA names {name}, which is not a folder")
    return Path(name)


def _table(path: str) -> dict[str, Floats]:
    """Read a CSV file, also a compressed one, into columns by name."""
    rows: Any = np.genfromtxt(
        data_folder() / path, delimiter=",", names=True, dtype=np.float64, encoding="utf-8"
    )
    columns = {name.strip('"'): np.ascontiguousarray(rows[name]) for name in rows.dtype.names}
    for name, column in columns.items():
        if np.isnan(column).any():
            raise ValueError(f"column {name} of {path} holds values that are not numbers")
    return columns


def _random_splits(path: str, target: str, features: tuple[str, ...], train: float) -> Splitter:
    """Cut the rows of a CSV file at random, a share of `train` for training."""
    columns = _table(path)
    return _cut(np.column_stack([columns[name] for name in features]), columns[target], train)


def _tabular(name: str, train: float) -> Splitter:
    """Cut the rows of a Parquet file at random; ``y`` is the target, the rest are inputs.

    Rows of ``parkinsons`` are recordings, some 140 of each of 42 people, and its first input is the
    number of the person: random splits leak, since everybody is in both parts. In ``bike`` the
    last two inputs add up to the count whose logarithm is the target.
    """
    from pyarrow.parquet import read_table  # noqa: PLC0415 - no other set needs it

    table = read_table(data_folder() / "tabular" / f"{name}.parquet")
    inputs = table.drop_columns("y").columns
    X = np.column_stack([column.to_numpy() for column in inputs]).astype(np.float64)
    return _cut(X, table["y"].to_numpy().astype(np.float64), train)


def _cut(X: Floats, y: Floats, train: float) -> Splitter:
    """Cut rows at random, a share of `train` for training."""
    cut = round(train * len(y))

    def split(k: int) -> Split:
        order = np.random.default_rng([SPLIT_SEED, k]).permutation(len(y))
        fit, test = order[:cut], order[cut:]
        return Split(X[fit], y[fit], X[test], y[test], rows=len(y))

    return split


def _standard_splits(name: str) -> Splitter:
    """Use the splits that come with the set, ``train_k`` and ``test_k``."""
    with np.load(data_folder() / "uci_pbp" / f"{name}.npz") as file:
        arrays = dict(file)
    X, y = arrays["X"].astype(np.float64), arrays["y"].astype(np.float64)

    def split(k: int) -> Split:
        fit, test = arrays[f"train_{k}"], arrays[f"test_{k}"]
        return Split(X[fit], y[fit], X[test], y[test], rows=len(y))

    return split


def _artificial(n: int, noise: Noise = "heteroscedastic", *, skewed: bool = False) -> Splitter:
    """Draw `n` training rows and fresh test rows of the artificial task of elmband.

    Skewed noise has the same mean and standard deviation at every row but the shape of a gamma
    distribution of shape two, ``(g - 2) / sqrt(2)``: skewness 1.41.
    """

    def split(k: int) -> Split:
        data = make_heteroscedastic(n + ARTIFICIAL_TEST_ROWS, noise=noise, random_state=k)
        y = data.y
        if skewed:
            g = np.random.default_rng([SPLIT_SEED, k]).gamma(2.0, size=len(y))
            y = data.mean + data.std * (g - 2) / np.sqrt(2)
        return Split(data.X[:n], y[:n], data.X[n:], y[n:], rows=n, noise=data.std[n:])

    return split


# rentsqm is the target divided by area, district is a code without order: both stay out.
RENT = ("area", "yearc", "location", "bath", "kitchen", "cheating")

PAPER = {name: (task.file, task.target, task.features) for name, task in TASKS.items()}
UCI = {
    "yacht": "yacht",
    "boston": "bostonHousing",
    "energy": "energy",
    "concrete": "concrete",
    "wine": "wine-quality-red",
    "kin8nm": "kin8nm",
    "power": "power-plant",
    "naval": "naval-propulsion-plant",
    "protein": "protein-tertiary-structure",
}
HETEROSCEDASTIC = {
    "mcycle": ("heteroscedastic/mcycle.csv.gz", "accel", ("times",)),
    "engel": ("heteroscedastic/engel.csv.gz", "foodexp", ("income",)),
    "abdom": ("heteroscedastic/abdom.csv.gz", "y", ("x",)),
    "rent": ("heteroscedastic/rent99.csv.gz", "rent", RENT),
    "lung": ("heteroscedastic/lungFunction.csv.gz", "slf", ("age", "height")),
    "dbbmi": ("heteroscedastic/dbbmi.csv.gz", "bmi", ("age",)),
}
TABULAR = ("parkinsons", "pol", "bike")
ARTIFICIAL = {
    "100": partial(_artificial, 100),
    "1000": partial(_artificial, 1000),
    "10000": partial(_artificial, 10000),
    "constant": partial(_artificial, 1000, 0.3),
    "skewed": partial(_artificial, 1000, skewed=True),
}


def _all_sets() -> list[BenchmarkSet]:
    sets = [BenchmarkSet(f"art-{name}", 10, load) for name, load in ARTIFICIAL.items()]
    for name, source in PAPER.items():
        sets.append(BenchmarkSet(f"paper-{name}", 30, partial(_random_splits, *source, 0.7)))
    for name, source in HETEROSCEDASTIC.items():
        sets.append(BenchmarkSet(f"het-{name}", 20, partial(_random_splits, *source, 0.9)))
    for name, file in UCI.items():
        n_splits = 5 if name == "protein" else 20
        sets.append(BenchmarkSet(f"uci-{name}", n_splits, partial(_standard_splits, file)))
    sets.extend(BenchmarkSet(f"tab-{name}", 5, partial(_tabular, name, 0.7)) for name in TABULAR)
    return sets


SETS = {one.name: one for one in _all_sets()}


def choose_sets(names: str) -> list[BenchmarkSet]:
    """Return the sets named in a list with commas; a group's name stands for all its sets."""
    if not names:
        return list(SETS.values())
    wanted = [name.strip() for name in names.split(",")]
    known = {*SETS, *(one.group for one in SETS.values())}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"no such set: {', '.join(unknown)}; known are {', '.join(sorted(known))}")
    return [one for one in SETS.values() if {one.name, one.group} & set(wanted)]
