"""Whether files are still the same as when they were opened first."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple


class Stamp(NamedTuple):
    """Size in bytes and time of the last change in nanoseconds, of several files their sums.

    A file may be replaced by another with the same of both. Its number and the time when anything
    about it changed tell, but another machine may see others of the same file: they do not travel.
    """

    size: int
    changed: int
    number: int | None = None
    touched: int | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return Stamp, (self.size, self.changed)

    def fits(self, now: "Stamp") -> bool:
        """Tell whether a later stamp is that of the same files, by what is known."""
        known = (pair for pair in zip(self, now, strict=True) if None not in pair)
        return all(before == after for before, after in known)


def stamp(path: Path) -> Stamp:
    """Return the stamp of a file, or that of all files of a folder together."""
    try:
        files = list(_files_below(path)) if path.is_dir() else [path.stat()]
    except FileNotFoundError as error:
        raise FileNotFoundError(f"{path} does not exist; check the name and the folder.") from error
    return Stamp(
        sum(f.st_size for f in files),
        sum(f.st_mtime_ns for f in files),
        sum(f.st_ino for f in files),
        sum(f.st_ctime_ns for f in files),
    )


def _files_below(folder: Path) -> Iterator[os.stat_result]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _files_below(Path(entry))
        else:
            # That of the entry itself lacks the number on some systems.
            yield os.stat(entry)  # noqa: PTH116 - a path would take longer to make


def check_unchanged(stamps: dict[Path, Stamp]) -> None:
    """Refuse files that are not what they were when they were opened first."""
    for path, before in stamps.items():
        if not before.fits(stamp(path)):
            raise ValueError(
                f"{path} changed while it was being read; scan it again when nothing writes to it."
            )
