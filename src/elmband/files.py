"""Output files that appear whole or not at all, and that are none of the files that are read."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

# Nobody may write to a file of such a mode; one who may do anything would not be stopped.
_WRITE_BITS = 0o222


def identity(path: Path) -> tuple[int, int] | None:
    """Return what all names of a file or a folder have in common; None if it does not exist."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def lies_in(path: Path, places: Iterable[Path]) -> bool:
    """Tell whether a path, under whatever name, is one of these places or lies in one.

    Links, hard links and other spellings are other names.
    """
    own = {identity(place) for place in places} - {None}
    folder = path.parent.resolve()
    return not own.isdisjoint({identity(place) for place in (path, folder, *folder.parents)})


def check_writable(path: Path) -> None:
    """Make sure that a file can be written to `path`, before any work is done for it."""
    with naming(path):
        is_folder, has_folder = path.is_dir(), path.parent.is_dir()
        is_special = path.exists() and not path.is_file()
        is_fixed = path.exists() and not (path.stat().st_mode & _WRITE_BITS)
    if is_folder:
        raise IsADirectoryError(f"{path} is a folder; the output needs the name of a file.")
    if not has_folder:
        raise NotADirectoryError(f"The output folder {path.parent} does not exist; make it first.")
    if is_special:
        raise OSError(f"{path} is a device or a pipe; the output needs the name of a file.")
    if is_fixed:
        raise OSError(
            f"{path} is there already and read-only; name another file, or let it be written to."
        )
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(
            f"The output folder {path.parent} cannot be written to: {_reason(error)}."
        ) from error


@contextmanager
def appearing_whole(path: Path) -> Iterator[Path]:
    """Give a new empty file under another name, which takes the place of `path` at the end.

    After any exception, an interrupt included, the new file is removed and what stood at `path`
    stays as it was. Exceptions of the caller pass through as they are.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "answer.txt")
    ...     with appearing_whole(path) as temporary:
    ...         _ = temporary.write_text("42")
    ...         print(path.exists())
    ...     print(path.read_text())
    False
    42
    """
    check_writable(path)
    # Only the head of the name: with all of a very long one, the new name would be too long.
    temporary = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.partial")
    try:
        with naming(path):
            temporary.touch(exist_ok=False)
        yield temporary
        with naming(path):
            if path.exists():
                shutil.copymode(path, temporary)  # who may read it stays as it was
            _to_disk(temporary)
            temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn an `OSError` into a sentence that names `path`, not the file under its other name."""
    try:
        yield
    except OSError as error:
        raise OSError(
            f"{path} could not be written and is left as it was: {_reason(error)}."
        ) from error


def _reason(error: OSError) -> str:
    """Return the system's words: libraries put their own, long ones in the error."""
    return os.strerror(error.errno) if error.errno else str(error)


def _to_disk(path: Path) -> None:
    # Without this, a power failure soon after the renaming could leave an empty file.
    with path.open("r+b") as file:
        os.fsync(file.fileno())
