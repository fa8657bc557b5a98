"""Output files that appear whole or not at all."""

import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def check_writable(path: Path) -> None:
    """Make sure that a file can be written to `path`, before any work is done for it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; the output needs the name of a file.")
    if not path.parent.is_dir():
        raise NotADirectoryError(f"The output folder {path.parent} does not exist; make it first.")
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(
            f"The output folder {path.parent} cannot be written to: {error.strerror}."
        ) from error


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` once it is written whole, or leaves no trace."""
    temporary = path.with_name(f".elmband-{secrets.token_hex(6)}.tmp")
    try:
        with temporary.open("xb") as file:
            yield file
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
