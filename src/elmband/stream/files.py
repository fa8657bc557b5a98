"""Which files a path, a glob or a folder stands for, and whether they are still the same."""

import os
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path
from typing import NamedTuple

KINDS = {
    ".npy": "npy",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".zarr": "zarr",
    ".parquet": "parquet",
    ".csv": "csv",
    ".csv.gz": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}

_ZARR_FILES = ("zarr.json", ".zgroup", ".zarray")


class Stamp(NamedTuple):
    """Size in bytes and time of the last change in nanoseconds, of several files their sums."""

    size: int
    changed: int


def stamp(path: Path) -> Stamp:
    """Return the stamp of a file, or that of all files of a folder together."""
    try:
        files = list(_files_below(path)) if path.is_dir() else [path.stat()]
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path} does not exist; check the name and the folder.") from error
    return Stamp(sum(f.st_size for f in files), sum(f.st_mtime_ns for f in files))


def _files_below(folder: Path) -> Iterator[os.stat_result]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _files_below(Path(entry))
        else:
            yield entry.stat()


def check_unchanged(stamps: dict[Path, Stamp]) -> None:
    """Refuse files that are not what they were when they were opened first."""
    for path, before in stamps.items():
        if stamp(path) != before:
            raise ValueError(
                f"{path} changed while it was being read; scan it again when nothing writes to it."
            )


def kind_of(path: Path) -> str | None:
    """Return the format that the name of a file tells, or None."""
    name = path.name.lower()
    if path.is_dir() and any((path / file).exists() for file in _ZARR_FILES):
        return "zarr"
    found = (kind for ending, kind in KINDS.items() if name.endswith(ending))
    return next(found, None)


def find_files(source: str | os.PathLike[str]) -> list[Path]:
    """Return the files that a path, a glob or a folder stands for, sorted by name."""
    path = Path(source).expanduser()
    if path.exists():
        # A folder of files may be named as they are: so others write parts of a table.
        is_folder = path.is_dir() and kind_of(path) != "zarr"
        return _in_folder(path) if is_folder else [_known(path)]
    if not has_magic(str(path)):
        raise FileNotFoundError(f"{path} does not exist; check the name and the folder.")
    found = sorted(glob(str(path), recursive=True))  # noqa: PTH207 - it may begin anywhere
    if not found:
        raise FileNotFoundError(f"No file matches {path}; check the pattern and the folder.")
    return [_known(Path(name)) for name in found]


def _known(path: Path) -> Path:
    if kind_of(path) is None:
        raise ValueError(f"{path} has none of the endings that can be read: {', '.join(KINDS)}.")
    return path


def _in_folder(folder: Path) -> list[Path]:
    """Return the files of one format in a folder; hidden and other files do not count."""
    files = [path for path in sorted(folder.iterdir()) if path.name[0] not in "._"]
    kinds = {path: kind for path in files if (kind := kind_of(path)) is not None}
    if not kinds:
        raise ValueError(f"{folder} holds no file that can be read: {', '.join(KINDS)}.")
    if len(set(kinds.values())) > 1:
        raise ValueError(
            f"{folder} holds files of several formats ({', '.join(sorted(set(kinds.values())))}); "
            f"choose one with a pattern such as {folder / '*'}{_ending(next(iter(kinds)))}."
        )
    return list(kinds)


def _ending(path: Path) -> str:
    return "".join(path.suffixes[-2:]) if path.name.lower().endswith(".csv.gz") else path.suffix
