"""Which files a path, a glob or a folder stands for."""

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

# What others write beside their data, and data that is not complete yet.
_HIDDEN = (".", "_")


class Found(NamedTuple):
    """A file to read.

    Attributes
    ----------
    path : Path
        Where it is.
    folder : Path or None
        The folder that stands for this and other files.
    keys : tuple of str
        Columns after which folders on the way to it are named, as in ``year=2024``.
    """

    path: Path
    folder: Path | None
    keys: tuple[str, ...]


def kind_of(path: Path) -> str | None:
    """Return the format that the name of a file tells, or None."""
    name = path.name.lower()
    if path.is_dir() and any((path / file).exists() for file in _ZARR_FILES):
        return "zarr"
    found = (kind for ending, kind in KINDS.items() if name.endswith(ending))
    return next(found, None)


def find_files(source: str | os.PathLike[str]) -> list[Found]:
    """Return the files that a path, a glob or a folder stands for, sorted by name."""
    path = Path(source).expanduser()
    if path.exists():
        is_folder = _is_folder(path)
        return _checked(path, _in_folder(path, len(path.parts))) if is_folder else [_known(path)]
    if not has_magic(str(path)):
        raise FileNotFoundError(f"{path} does not exist; check the name and the folder.")
    found = sorted(glob(str(path), recursive=True))  # noqa: PTH207 - it may begin anywhere
    if not found:
        raise FileNotFoundError(f"No file matches {path}; check the pattern and the folder.")
    return _checked(path, _matched(path, [Path(name) for name in found]))


def _is_folder(path: Path) -> bool:
    """Tell folders of files, which may be named as they are, from stores, which are folders."""
    return path.is_dir() and kind_of(path) != "zarr"


def _known(path: Path, keys: tuple[str, ...] = ()) -> Found:
    if kind_of(path) is None:
        raise ValueError(f"{path} has none of the endings that can be read: {', '.join(KINDS)}.")
    return Found(path, None, keys)


def _matched(pattern: Path, paths: list[Path]) -> list[Found]:
    """Return the files that a pattern matches, and those in folders that it does, each once."""
    depth = next(k for k, part in enumerate(pattern.parts) if has_magic(part))
    found: dict[Path, Found] = {}
    for path in paths:
        if not _is_folder(path):
            found.setdefault(path, _known(path, _keys(path, depth)))
        elif pattern.name.startswith(_HIDDEN) or not _is_hidden(path, depth):
            for file in _in_folder(path, depth):
                found.setdefault(file.path, file)
    return list(found.values())


def _is_hidden(path: Path, depth: int) -> bool:
    return any(part.startswith(_HIDDEN) for part in path.parts[depth:])


def _keys(path: Path, depth: int) -> tuple[str, ...]:
    pairs = (part.partition("=") for part in path.parts[depth:-1])
    return tuple(key for key, equals, _ in pairs if key and equals)


def _in_folder(folder: Path, depth: int) -> list[Found]:
    """Return the files of a folder and the folders in it; hidden and other files do not count."""
    files = [path for path in _below(folder, frozenset()) if kind_of(path) is not None]
    return [Found(path, folder, _keys(path, depth)) for path in files]


def _below(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    above |= {folder.resolve()}
    for path in sorted(folder.iterdir()):
        if path.name.startswith(_HIDDEN):
            continue
        if not _is_folder(path):
            yield path
        elif path.resolve() not in above:  # a link may lead back
            yield from _below(path, above)


def _checked(source: Path, found: list[Found]) -> list[Found]:
    """Refuse folders without files, or with files of several formats."""
    if not found:
        raise ValueError(f"{source} holds no file that can be read: {', '.join(KINDS)}.")
    inside = [file for file in found if file.folder is not None]
    kinds = sorted({kind_of(file.path) or "" for file in inside})
    if len(kinds) > 1:
        one = inside[0]
        raise ValueError(
            f"{source} holds files of several formats ({', '.join(kinds)}); choose one with a "
            f"pattern such as {one.folder}{os.sep}**{os.sep}*{_ending(one.path)}."
        )
    return found


def _ending(path: Path) -> str:
    return "".join(path.suffixes[-2:]) if path.name.lower().endswith(".csv.gz") else path.suffix
