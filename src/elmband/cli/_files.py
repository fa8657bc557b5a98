"""Files that commands read and write: paths, or ``-`` for standard input and output."""

import math
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

# How the files begin that are not text.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x1f\x8b": ".csv.gz",
    b"\x93NUMPY": ".npy",
    b"\x89HDF\r\n": ".h5",
}
STANDARD = "-"


@contextmanager
def readable(path: str) -> Iterator[str]:
    """Give a path that can be read again and again: standard input is kept in a file first."""
    if path != STANDARD:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        yield str(_spooled(sys.stdin.buffer, Path(folder)))


def _spooled(source: IO[bytes], folder: Path) -> Path:
    """Keep what comes in; its first bytes tell the format, which is CSV otherwise."""
    head = source.read(8)
    if not head:
        raise ValueError("Standard input is empty; there is nothing to read.")
    ending = next((end for begin, end in _BEGINNINGS.items() if head.startswith(begin)), ".csv")
    path = folder / f"input{ending}"
    with path.open("wb") as file:
        file.write(head)
        shutil.copyfileobj(source, file, 2**20)
    return path


@contextmanager
def writable(path: str, ending: str = ".csv") -> Iterator[Path]:
    """Give a path to write to; what is meant for standard output is copied there at the end."""
    if path != STANDARD:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / f"output{ending}"
        yield kept
        with kept.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, 2**20)
        sys.stdout.buffer.flush()


def named(path: str) -> str:
    """Return the name of a file for people."""
    return "standard input" if path == STANDARD else path


def plain(value: Any) -> Any:
    """Return numbers and tuples in the types that JSON knows; what is not finite is null."""
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
