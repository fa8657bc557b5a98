"""Which files a path, a glob or a folder stands for."""

import os
from collections.abc import Iterator
from fnmatch import fnmatch
from glob import glob, has_magic
from pathlib import Path
from typing import NamedTuple

from elmband.ground.files import lies_in
from elmband.sources.stream.csv_bytes import PACKINGS

# CSV files, as they are and packed.
_CSV = [f"{end}{packed}" for end in (".csv", ".tsv") for packed in ("", *PACKINGS)]

KINDS = {
    ".npy": "npy",
    ".h5": "hdf5",
    ".hdf5": "hdf5",
    ".zarr": "zarr",
    ".parquet": "parquet",
    **dict.fromkeys(_CSV, "csv"),
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}

# Formats of tables, whose columns have names; they are read by a library which takes names of
# files in UTF-8 only.
_TABLES = ("parquet", "csv", "arrow")
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


def is_table(source: str | os.PathLike[str]) -> bool:
    """Tell whether a source has columns with names, by the ending of its first file, or its own."""
    try:
        path = find_files(source)[0].path
    except (OSError, ValueError):  # told of where the source is read
        path = Path(source)
    return kind_of(path) in _TABLES


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


def covers(source: str | os.PathLike[str], path: Path) -> bool:
    """Tell whether a path is a source, lies in it, or fits its pattern: it would then be read."""
    given = Path(source).expanduser()
    if given.exists() or not has_magic(str(given)):
        return lies_in(path, [given])
    depth = _depth(given)
    head, place = Path(*given.parts[:depth]).resolve(), path.parent.resolve() / path.name
    below = place.is_relative_to(head)
    return below and _fits(place.relative_to(head).parts, given.parts[depth:])


def _fits(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Tell whether a path fits a pattern, or lies in a folder that does."""
    if not pattern:
        return True
    if pattern[0] == "**":
        return any(_fits(parts[k:], pattern[1:]) for k in range(len(parts)))
    return bool(parts) and fnmatch(parts[0], pattern[0]) and _fits(parts[1:], pattern[1:])


def stands_for(source: str | os.PathLike[str], path: Path) -> bool:
    """Tell whether a path, under whatever name, is among the files of a source, or would be."""
    if covers(source, path):
        return True
    try:
        found = find_files(source)
    except (OSError, ValueError):  # told of where the source is read
        return False
    return lies_in(path, (file.path for file in found))


def _is_folder(path: Path) -> bool:
    """Tell folders of files, which may be named as they are, from stores, which are folders."""
    return path.is_dir() and kind_of(path) != "zarr"


def _known(path: Path, keys: tuple[str, ...] = ()) -> Found:
    _check_plain(path)
    kind = kind_of(path)
    if kind is None:
        raise ValueError(
            f"{path} has none of the endings that can be read: {', '.join(KINDS)}; rename it if it "
            "is one of these, or save it as such."
        )
    if kind in _TABLES and not _is_utf8(path):
        raise ValueError(
            f"{path} has a name that is not in UTF-8, by which {kind} files cannot be opened; "
            "rename it."
        )
    return Found(path, None, keys)


def _is_utf8(path: Path) -> bool:
    """Tell whether the bytes of a name are text."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_plain(path: Path) -> None:
    """Refuse what would be waited for, and could not be read a second time."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise ValueError(
            f"{path} is a pipe or a device, which cannot be read again and again; save what comes "
            "out of it as a file."
        )


def _matched(pattern: Path, paths: list[Path]) -> list[Found]:
    """Return the files that a pattern matches, and those in folders that it does, each once."""
    depth = _depth(pattern)
    found: dict[Path, Found] = {}
    for path in paths:
        if not _is_folder(path):
            found.setdefault(path, _known(path, _keys(path, depth)))
        elif pattern.name.startswith(_HIDDEN) or not _is_hidden(path, depth):
            for file in _in_folder(path, depth):
                found.setdefault(file.path, file)
    return list(found.values())


def _depth(pattern: Path) -> int:
    """Return how many folders a pattern names before anything in it may be of several names."""
    return next(k for k, part in enumerate(pattern.parts) if has_magic(part))


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
    for file in inside:
        _check_plain(file.path)
    kinds = sorted({kind_of(file.path) or "" for file in inside})
    if len(kinds) > 1:
        one = inside[0]
        raise ValueError(
            f"{source} holds files of several formats ({', '.join(kinds)}); choose one with a "
            f"pattern such as {one.folder}{os.sep}**{os.sep}*{_ending(one.path)}."
        )
    return found


def _ending(path: Path) -> str:
    return "".join(path.suffixes[-2:]) if path.suffix.lower() in PACKINGS else path.suffix
