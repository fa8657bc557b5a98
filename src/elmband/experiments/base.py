"""What an experiment is, what it is told, and what it gives back."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

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


def _silent(_: str) -> None:
    pass


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
        Folder with the real data sets.
    photos : Path or None
        Folder with the folders ``images`` and ``masks``.
    pixels : int
        Rows to take from the photos, half of them for the test.
    tell : callable
        Called with a few words whenever a part of the work begins.
    """

    seed: int = 0
    quick: bool = False
    data: Path | None = None
    photos: Path | None = None
    pixels: int = 200_000
    tell: Callable[[str], None] = field(default=_silent, compare=False)

    def missing(self, need: Need | None) -> str | None:
        """Return what an experiment lacks and how to give it, or None."""
        if need is None:
            return None
        folder = self.data if need == "data" else self.photos
        if folder is None:
            return _ABSENT[need]
        if not folder.is_dir():
            return f"{folder} is not a folder; {_ABSENT[need]}"
        return None


_ABSENT: dict[Need, str] = {
    "data": "let ELMBAND_DATA name the folder with the real data sets.",
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
    """

    name: str
    group: Group
    title: str
    published: str
    why: str
    run: Callable[[Settings], Result]
    need: Need | None = None
