"""What an experiment is, what it is told, and what it gives back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elmband_experiments.datasets.catalogue import CONCRETE, PLASMA, POWERPLANT
from elmband_experiments.datasets.places import located

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats: TypeAlias = NDArray[np.float64]
Group: TypeAlias = Literal["figures", "tables", "skin", "runtime"]
Need: TypeAlias = Literal["data", "photos"]
Row: TypeAlias = dict[str, Any]

GROUPS: tuple[Group, ...] = ("figures", "tables", "skin", "runtime")


def percent(share: float, digits: int = 1) -> str:
    """Write a share in percent, on one line with its sign.

    Examples
    --------
    >>> percent(0.12345).split(), percent(float("nan"))
    (['12.3', '%'], 'unknown')
    """
    return "unknown" if np.isnan(share) else f"{100 * share:.{digits}f}\N{NO-BREAK SPACE}%"


def _silent(_: str, __: float) -> None:
    pass


def _nothing(_: "Settings") -> float:
    return 0.0


@dataclass(frozen=True)
class Settings:
    """What all experiments are told.

    Attributes
    ----------
    seed : int
        Seed of data, splits and neurons: the same one gives the same numbers, times apart.
    quick : bool
        Fewer splits, rows and steps, to see that all of it runs.
    data : Path or None
        Folder with the real data sets; None takes the one that ``ELMBAND_DATA`` names.
    download : bool
        Whether to fetch data sets that neither the folder nor the cache has.
    photos : Path or None
        Folder with the folders ``images`` and ``masks``.
    pixels : int
        Rows to take from the photos, half of them for the test.
    scratch : Path or None
        Where large files may lie for a while; None takes the system's place for them.
    tell : callable
        Called with a few words whenever a part of the work begins, and with the share of the
        experiment's work that is done by then.
    """

    seed: int = 0
    quick: bool = False
    data: Path | None = None
    download: bool = False
    photos: Path | None = None
    pixels: int = 200_000
    scratch: Path | None = None
    tell: Callable[[str, float], None] = field(default=_silent, compare=False)

    def missing(self, need: Need | None) -> str | None:
        """Return what an experiment lacks and how to give it, or None; fetch it if asked to."""
        if need is None:
            return None
        folder = self.data if need == "data" else self.photos
        if folder is not None and not folder.is_dir():
            return f"{folder} is not a folder; {_ABSENT[need]}"
        if need == "photos":
            return _ABSENT[need] if folder is None else None
        return self._missing_data()

    def _missing_data(self) -> str | None:
        try:
            lacking = [
                entry.name
                for entry in (CONCRETE, PLASMA, POWERPLANT)
                if located(entry.name, entry.file, entry.source, self.data, fetch=self.download)
                is None
            ]
        except (ImportError, OSError, ValueError) as error:
            return str(error)
        return f"Not at hand: {', '.join(lacking)}; {_ABSENT['data']}" if lacking else None


_ABSENT: dict[Need, str] = {
    "data": (
        "name the folder with the real data sets with --data or ELMBAND_DATA, or let --download "
        "fetch them."
    ),
    "photos": "name a folder that holds the folders images and masks with --photos.",
}


@dataclass(frozen=True, eq=False)
class Result:
    """What an experiment found.

    Attributes
    ----------
    tables : dict of str to list of dict
        Rows of plain values, each table by the name of its file.
    figures : dict of str to Figure
        Drawings, each by the name of its file.
    found : tuple of str
        What came out, in sentences.
    """

    tables: dict[str, list[Row]]
    figures: "dict[str, Figure]"
    found: tuple[str, ...]


@dataclass(frozen=True)
class Experiment:
    """One experiment of the paper.

    Attributes
    ----------
    name : str
        Short name, also that of its files.
    group : str
        The part of ``elmband reproduce`` that it belongs to.
    title : str
        Heading.
    published : str
        What the paper reports.
    why : str
        Why what we get differs from it.
    run : callable
        From settings to the result.
    need : "data", "photos" or None
        What has to be given.
    seconds : callable
        From settings to what it takes on two cores of a small machine: the time left is told by
        this, and by how the machine at hand compares.
    """

    name: str
    group: Group
    title: str
    published: str
    why: str
    run: Callable[[Settings], Result]
    need: Need | None = None
    seconds: Callable[[Settings], float] = _nothing
