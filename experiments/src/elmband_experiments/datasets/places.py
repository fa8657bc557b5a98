"""Where the file of a data set is: in a folder of the user's, in the cache, or on the network."""

import os
from pathlib import Path
from typing import NamedTuple

from elmband_experiments.datasets.catalogue import Entry
from elmband_experiments.datasets.sources import Direct, OpenML, cache_folder, cached, download
from elmband_experiments.datasets.table import Columns, checked

Folder = str | os.PathLike[str] | None


class Found(NamedTuple):
    """A file, and whether it is as published or in the layout of a user's folder."""

    path: Path
    as_published: bool


def located(
    name: str, file: str, source: Direct | OpenML, folder: Folder, *, fetch: bool
) -> Found | None:
    """Look for a file in the folder, then in the cache, then fetch it if that is asked for."""
    own = folder or os.environ.get("ELMBAND_DATA")
    if own and Path(own, file).is_file():
        return Found(Path(own, file), as_published=False)
    cache = cache_folder() / name
    path = cached(source, cache)
    if path is None and fetch:
        path = download(source, cache)
    return None if path is None else Found(path, as_published=True)


def absent(name: str, file: str, source: Direct | OpenML) -> str:
    """Return the sentence that says what to do where a file is nowhere."""
    return (
        f"The data set {name} is not at hand: put it as {file} into a folder and name that with "
        f"folder= or ELMBAND_DATA, or give download=True to fetch it from {source.page}."
    )


def read_columns(entry: Entry, folder: Folder = None, *, fetch: bool = False) -> Columns:
    """Read all columns of a data set that are used."""
    return columns_of(entry, found(entry, folder, fetch=fetch))


def found(entry: Entry, folder: Folder = None, *, fetch: bool = False) -> Found:
    """Return where a data set is, or say what to do."""
    place = located(entry.name, entry.file, entry.source, folder, fetch=fetch)
    if place is None:
        raise FileNotFoundError(absent(entry.name, entry.file, entry.source))
    return place


def columns_of(entry: Entry, place: Found) -> Columns:
    """Read the columns of a file that was found."""
    read = entry.read_source if place.as_published else entry.read
    try:
        columns = read(place.path)
    except (OSError, EOFError, ValueError, KeyError, TypeError, NotImplementedError) as error:
        raise ValueError(
            f"{place.path} cannot be read as the data set {entry.name}: {error}"
        ) from error
    return checked(columns, entry.columns, entry.n_rows, place.path)
