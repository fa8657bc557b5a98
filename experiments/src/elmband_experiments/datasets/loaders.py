"""One function for each public data set.

All look in three places: a folder of the user's, the cache, and the network if that is asked for.
The cache is the folder that the environment variable ``ELMBAND_CACHE`` names, or the system's
place for caches; what lies there is read only if it has not changed since it came.
"""

from pathlib import Path
from typing import Literal

import numpy as np

from elmband_experiments.datasets import catalogue
from elmband_experiments.datasets.catalogue import Entry
from elmband_experiments.datasets.places import Folder, absent, columns_of, found, located
from elmband_experiments.datasets.table import RealData, chosen

Steam = Literal["steam_pressure", "main_steam_temperature"]


def load_concrete(*, folder: Folder = None, download: bool = False) -> RealData:
    """Load the compressive strength of 1,030 mixtures of concrete, 8 inputs.

    Parameters
    ----------
    folder : path or None, default=None
        Folder of yours that holds ``concrete/concrete.csv.gz``. None takes the
        folder that the environment variable ``ELMBAND_DATA`` names.
    download : bool, default=False
        Whether to fetch the file from its public source where neither the folder nor the cache
        has it. Without this nothing uses the network.

    Returns
    -------
    RealData
        Inputs, targets, names, and in `DESCR` what is known of source and licence.
    """
    entry = catalogue.CONCRETE
    return _loaded(entry, entry.columns[:-1], entry.columns[-1], folder, download=download)


def load_plasma(*, folder: Folder = None, download: bool = False) -> RealData:
    """Load the beta-carotene in the plasma of 315 patients, 12 inputs.

    Parameters
    ----------
    folder : path or None, default=None
        Folder of yours that holds ``plasma/plasma.csv``. None takes the
        folder that the environment variable ``ELMBAND_DATA`` names.
    download : bool, default=False
        Whether to fetch the file from its public source where neither the folder nor the cache
        has it. Without this nothing uses the network.

    Returns
    -------
    RealData
        Inputs, targets, names, and in `DESCR` what is known of source and licence.
    """
    # The last column, retinol in the plasma, is another target.
    entry = catalogue.PLASMA
    return _loaded(entry, entry.columns[:-2], "betaplasma", folder, download=download)


def load_powerplant(
    target: Steam = "steam_pressure", *, folder: Folder = None, download: bool = False
) -> RealData:
    """Load 200 states of a power plant in the order of time, 5 inputs.

    Parameters
    ----------
    target : {"steam_pressure", "main_steam_temperature"}, default="steam_pressure"
        Which column is to be predicted.
    folder : path or None, default=None
        Folder of yours that holds ``powerplant/powerplant.csv``. None takes the
        folder that the environment variable ``ELMBAND_DATA`` names.
    download : bool, default=False
        Whether to fetch the file from its public source where neither the folder nor the cache
        has it. Without this nothing uses the network.

    Returns
    -------
    RealData
        Inputs, targets, names, and in `DESCR` what is known of source and licence.
    """
    entry, inputs = catalogue.POWERPLANT, catalogue.PLANT_INPUTS
    targets = entry.columns[len(inputs) :]
    if target not in targets:
        raise ValueError(f"target must be one of {', '.join(targets)}; got {target!r}.")
    return _loaded(entry, inputs, target, folder, download=download)


def load_motorcycle(*, folder: Folder = None, download: bool = False) -> RealData:
    """Load the acceleration of a head in a motorcycle accident, 133 rows over time.

    Parameters
    ----------
    folder : path or None, default=None
        Folder of yours that holds ``heteroscedastic/mcycle.csv.gz``. None takes the
        folder that the environment variable ``ELMBAND_DATA`` names.
    download : bool, default=False
        Whether to fetch the file from its public source where neither the folder nor the cache
        has it. Without this nothing uses the network.

    Returns
    -------
    RealData
        Inputs, targets, names, and in `DESCR` what is known of source and licence.
    """
    return _loaded(catalogue.MOTORCYCLE, ("times",), "accel", folder, download=download)


def load_engel(*, folder: Folder = None, download: bool = False) -> RealData:
    """Load income and expenditure on food of 235 households.

    Parameters
    ----------
    folder : path or None, default=None
        Folder of yours that holds ``heteroscedastic/engel.csv.gz``. None takes the
        folder that the environment variable ``ELMBAND_DATA`` names.
    download : bool, default=False
        Whether to fetch the file from its public source where neither the folder nor the cache
        has it. Without this nothing uses the network.

    Returns
    -------
    RealData
        Inputs, targets, names, and in `DESCR` what is known of source and licence.
    """
    return _loaded(catalogue.ENGEL, ("income",), "foodexp", folder, download=download)


def load_skin(*, folder: Folder = None, download: bool = False) -> RealData:
    """Load 245,057 colours, blue, green and red, and whether they are skin: 1, or -1 if not.

    Parameters
    ----------
    folder : path or None, default=None
        Folder of yours that holds ``skin_uci/skin_nonskin.npz``. None takes the
        folder that the environment variable ``ELMBAND_DATA`` names.
    download : bool, default=False
        Whether to fetch the file from its public source where neither the folder nor the cache
        has it. Without this nothing uses the network.

    Returns
    -------
    RealData
        Inputs, targets, names, and in `DESCR` what is known of source and licence.
    """
    entry = catalogue.SKIN
    data = _loaded(entry, entry.columns[:-1], "label", folder, download=download)
    skin = np.where(data.y == 1, 1.0, -1.0)
    return RealData(data.X, skin, data.feature_names, "skin", data.DESCR, data.path)


def fetch_flights(*, folder: Folder = None, download: bool = False) -> Path:
    """Return the path of a Parquet file of 3,000,000 flights in the United States in 2001.

    Its columns are date, delay in minutes, distance in miles, origin and destination. It is too
    large for arrays: ``scan(fetch_flights(), target="delay", encoder=TableEncoder())`` reads it.
    The Bureau of Transportation Statistics collected the rows, vega-datasets publishes this file;
    licence terms are not stated explicitly.

    Parameters
    ----------
    folder : path or None, default=None
        Folder of yours that holds ``flights/flights-3m.parquet``. None takes the
        folder that the environment variable ``ELMBAND_DATA`` names.
    download : bool, default=False
        Whether to fetch the file from its public source where neither the folder nor the cache
        has it. Without this nothing uses the network.

    Returns
    -------
    Path
        The file.
    """
    source, file = catalogue.FLIGHTS, catalogue.FLIGHTS_FILE
    place = located("flights", file, source, folder, fetch=download)
    if place is None:
        raise FileNotFoundError(absent("flights", file, source))
    return place.path


def _loaded(
    entry: Entry, features: tuple[str, ...], target: str, folder: Folder, *, download: bool
) -> RealData:
    place = found(entry, folder, fetch=download)
    X, y = chosen(columns_of(entry, place), features, target)
    return RealData(X, y, features, target, entry.DESCR, place.path)
