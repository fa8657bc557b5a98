"""What ``elmband demo`` compares: data sets, kinds of interval, and what becomes of them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from elmband.datasets import make_heteroscedastic
from elmband.ground.files import appearing_together, check_writable, naming

Floats: TypeAlias = NDArray[np.float64]

TEST_ROWS = 2000


@dataclass(frozen=True, eq=False)
class Task:
    """A data set with its split, and the true noise of test rows where it is known."""

    name: str
    X: Floats
    y: Floats
    X_test: Floats
    y_test: Floats
    true_std: Floats | None = None

    @property
    def order(self) -> str:
        """What tells noisy test rows from quiet ones."""
        return "predicted variance" if self.true_std is None else "true noise"


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of interval: its name, its colour, and the fit of a function from X to intervals."""

    name: str
    color: str
    fit: Callable[[Task, int, float], Callable[[Floats], Floats]]


@dataclass(frozen=True, eq=False)
class Outcome:
    """What became of one kind of interval on one task."""

    kind: Kind
    predict: Callable[[Floats], Floats]
    picp: float
    nmpiw: float
    score: float
    quietest: float
    noisiest: float
    seconds: float


def artificial_task(rows: int, seed: int) -> Task:
    """Draw the artificial set and split it; its rows come in random order."""
    data = make_heteroscedastic(rows + TEST_ROWS, random_state=seed)
    return Task(
        f"Artificial data, {rows:,} training rows",
        data.X[:rows],
        data.y[:rows],
        data.X[rows:],
        data.y[rows:],
        data.std[rows:],
    )


def diabetes_task(seed: int) -> Task:
    """Load the diabetes set and split it at random."""
    X, y = load_diabetes(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
    name = f"Diabetes data, {len(y)} training rows"
    return Task(name, X, y, X_test, y_test)


def write_tables(folder: Path, seed: int) -> dict[str, int]:
    """Write the diabetes set as it was measured to two tables; return their numbers of rows."""
    paths = [folder / name for name in ("train.csv", "test.csv")]
    for path in paths:
        check_writable(path)
    data = load_diabetes(scaled=False)
    rows = np.column_stack([data.data, data.target])
    names = ",".join([*data.feature_names, "progress"])
    parts = train_test_split(rows, test_size=0.25, random_state=seed)
    with appearing_together(paths) as temporary:
        for path, place, part in zip(paths, temporary, parts, strict=True):
            with naming(path):
                np.savetxt(place, part, "%g", ",", header=names, comments="")
    return {str(path): len(part) for path, part in zip(paths, parts, strict=True)}
