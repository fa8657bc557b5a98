"""What is measured, in the order of the report.

A case names a function ``rivals.<module>.<function>(source, watch, **options)``, and what it reads:
arrays in memory, a file, or nothing. This module imports no NumPy: the process that starts the
measurements stays small, since on Linux a child's peak memory starts at its parent's.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from pathlib import Path
from typing import Any, cast

from benchmarks.scale.work import (
    FEATURES,
    INTERVAL_FIT,
    OWN_LAYERS_FIT,
    POINT_FIT,
    SIGMOIDS,
)

DTYPES = ("float32", "float64")
RIVALS = ("hp-elm", "ridge", "naive")
ALPHA = 1e-3
"""The L2 strength wherever it is given, the same number in the same equation for everyone."""

CEILING_SIZE = 4096
HEAD_ROWS = 10_000
"""Rows of the file that runs are warmed up with."""
FLIGHTS_ROWS = 3_000_000
GROWTH_ROWS = (100_000, 200_000, 500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000)
GROWTH_DTYPE = "float32"
GROWTH_CASES = ("elmband-npy-point", "elmband-npy-interval")


@dataclass(frozen=True, eq=False)
class Case:
    """One thing to measure.

    Attributes
    ----------
    name : str
        Its name in the result files; the first part is the package.
    label : str
        What the tables call it.
    task : str
        ``module.function`` in ``rivals``.
    options : mapping
        Passed on to the function.
    file : str or None
        Name of the file it streams from, with ``{rows}`` and ``{dtype}``; None gives it arrays.
    scan : mapping
        How the file is opened.
    rows : int or None
        Its number of rows where that is not the user's to choose.
    work : int or None
        Necessary operations of a fit per row, None where the count would say nothing.
    """

    name: str
    label: str
    task: str
    options: Mapping[str, Any] = field(default_factory=dict)
    file: str | None = None
    scan: Mapping[str, Any] = field(default_factory=dict)
    rows: int | None = None
    dtypes: tuple[str, ...] = DTYPES
    work: int | None = None

    @property
    def rival(self) -> str:
        """The rival this case belongs to; "elmband" for ours, "machine" for the ceiling."""
        return next((name for name in RIVALS if self.name.startswith(name)), self._package[0])

    @property
    def reads_nothing(self) -> bool:
        """Whether it needs no rows of ours."""
        return self.rows is not None and self.file is None

    @property
    def _package(self) -> tuple[str, str]:
        """Short name, and name of the package whose version tells what was measured."""
        packages = {"hp": "hpelm", "ridge": "scikit-learn", "elmband": "elmband"}
        short = self.name.split("-", maxsplit=1)[0]
        return short, packages.get(short, "numpy")

    def version(self) -> str:
        """Return the version of the package that is measured."""
        name = self._package[1]
        return f"{name} {metadata.version(name)}"

    def load(self) -> Callable[..., dict[str, float]]:
        """Import the function, and with it the package."""
        module, function = self.task.split(".")
        found = getattr(import_module(f"benchmarks.scale.rivals.{module}"), function)
        return cast("Callable[..., dict[str, float]]", found)


_LAYER = {"n_neurons": {"linear": FEATURES, "sigmoid": SIGMOIDS}}
_GIVEN = _LAYER | {"alpha": ALPHA}
_PUBLISHED = {"noise": "squared", "calibration": "gaussian"}
_INTERVAL = _GIVEN | _PUBLISHED
_NPY = {"file": "rows-{rows}-{dtype}.npy", "scan": {"target": -1}}
_PARQUET = {"file": "rows-{rows}-{dtype}.parquet", "scan": {"target": "y"}}
_FLIGHTS: dict[str, Any] = {
    "task": "elm.interval",
    "options": _PUBLISHED | {"n_neurons": {"linear": 1, "sigmoid": SIGMOIDS}, "alpha": ALPHA},
    "rows": FLIGHTS_ROWS,
    "dtypes": ("float64",),
}


def _ours(name: str, label: str, options: Mapping[str, Any], work: int | None, **rest: Any) -> Case:
    """Return a case of elmband with the point or the interval estimator."""
    function = "point" if "point" in name else "interval"
    return Case(f"elmband-{name}", label, f"elm.{function}", options, work=work, **rest)


_CASES = (
    Case(
        "machine-matmul", "matrix product 4096³, the ceiling", "machine.matmul", rows=CEILING_SIZE
    ),
    Case(
        "hp-elm",
        "HP-ELM, point, batch=1000 (its default)",
        "hp_elm.train",
        {"batch": 1000},
        work=POINT_FIT,
    ),
    Case(
        "hp-elm-batch",
        "HP-ELM, point, batch=10000",
        "hp_elm.train",
        {"batch": 10_000},
        work=POINT_FIT,
    ),
    Case("ridge", "scikit-learn Ridge on all features, point", "ridge.train", work=POINT_FIT),
    Case(
        "naive-own",
        "naive intervals, as in the paper, batch=1000 (HP-ELM's default)",
        "naive.train",
        {"shared": False, "batch": 1000},
        work=OWN_LAYERS_FIT,
    ),
    Case(
        "naive-own-batch",
        "naive intervals, as in the paper, batch=10000",
        "naive.train",
        {"shared": False, "batch": 10_000},
        work=OWN_LAYERS_FIT,
    ),
    Case(
        "naive-shared",
        "naive intervals, one shared layer, batch=10000",
        "naive.train",
        {"shared": True, "batch": 10_000},
        work=INTERVAL_FIT,
    ),
    _ours("point", "elmband point, alpha given", _GIVEN, POINT_FIT),
    _ours("interval", "elmband published, alpha given", _INTERVAL, INTERVAL_FIT),
    _ours(
        "own",
        "elmband published, alpha given, noise model with its own layer",
        _INTERVAL | {"noise_neurons": _LAYER["n_neurons"]},
        OWN_LAYERS_FIT,
    ),
    _ours("gcv", "elmband published, alpha by GCV", _INTERVAL | {"alpha": "gcv"}, INTERVAL_FIT),
    _ours(
        "loo",
        "elmband published, alpha by leave-one-out",
        _INTERVAL | {"alpha": "loo"},
        INTERVAL_FIT,
    ),
    _ours("fast", "elmband published, alpha given, fast mode", _INTERVAL | {"mode": "fast"}, None),
    _ours("defaults", "elmband defaults, untouched", {}, None),
    _ours("npy-point", "elmband point, alpha given, from .npy", _GIVEN, POINT_FIT, **_NPY),
    _ours(
        "npy-interval", "elmband published, alpha given, from .npy", _INTERVAL, INTERVAL_FIT, **_NPY
    ),
    _ours(
        "parquet-interval",
        "elmband published, alpha given, from Parquet",
        _INTERVAL,
        INTERVAL_FIT,
        **_PARQUET,
    ),
    Case(
        "elmband-flights-npy",
        "elmband published, alpha given, flights from .npy",
        file="flights.npy",
        scan={"target": -1},
        **_FLIGHTS,
    ),
    Case(
        "elmband-flights-parquet",
        "elmband published, alpha given, flights from Parquet",
        file="flights.parquet",
        scan={"target": "delay", "features": ["distance"]},
        **_FLIGHTS,
    ),
    Case(
        "elmband-small",
        "elmband defaults, 1,000 rows of 8",
        "elm.small",
        rows=1000,
        dtypes=("float64",),
    ),
)
CASES = {case.name: case for case in _CASES}


def flights_file() -> Path | None:
    """Return the Parquet file of flights, or None where it is not there."""
    folder = os.environ.get("ELMBAND_DATA", "")
    path = Path(folder, "flights", "flights-3m.parquet")
    return path if folder and path.is_file() else None
