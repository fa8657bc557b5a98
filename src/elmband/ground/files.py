"""Output files that appear whole or not at all, and that are none of the files that are read."""

import os
import secrets
import shutil
import signal
import stat
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import current_thread, main_thread
from types import FrameType

# Bits of a mode that let somebody write; looked at because the system stops no administrator.
_WRITE_BITS = 0o222
# Signals by which a terminal, a scheduler or a user asks a process to end.
_ENDINGS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]


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


def check_name(path: str | Path) -> None:
    """Refuse a name with a null byte, with a sentence that names it, as Python's does not."""
    if "\0" in str(path):
        raise OSError(f"{str(path)!r} cannot be the name of a file; the output needs another.")


def check_writable(path: Path) -> None:
    """Make sure that a file can be written to `path`, before any work is done for it."""
    check_name(path)
    with naming(path):
        try:
            found = path.stat()
        except (FileNotFoundError, NotADirectoryError):
            found = None
        has_folder = path.parent.is_dir()
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(f"{path} is a folder; the output needs the name of a file.")
    if not has_folder:
        raise NotADirectoryError(f"The output folder {path.parent} does not exist; make it first.")
    if found is not None:
        _check_replaceable(path, found)
    try:
        tempfile.TemporaryFile(dir=path.parent).close()
    except OSError as error:
        raise OSError(
            f"The output folder {path.parent} cannot be written to: {_reason(error)}."
        ) from error


def _check_replaceable(path: Path, found: os.stat_result) -> None:
    """Refuse to replace what is no file, or a file that its owner has closed."""
    if not stat.S_ISREG(found.st_mode):
        raise OSError(f"{path} is a device or a pipe; the output needs the name of a file.")
    if not (found.st_mode & _WRITE_BITS and os.access(path, os.W_OK)):
        raise OSError(
            f"{path} is there already and read-only; name another file, or let it be written to."
        )
    if os.path.ismount(path):  # that of Path is for folders only
        raise OSError(f"{path} is mounted there and cannot be replaced; name another file.")
    folder = path.parent.stat()
    if folder.st_mode & stat.S_ISVTX and _user() not in {0, found.st_uid, folder.st_uid}:
        raise OSError(
            f"{path} belongs to somebody else, in a folder where only they may replace it; name "
            "another file."
        )


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
    with appearing_together([path]) as (temporary,):
        yield temporary


@contextmanager
def appearing_together(paths: Sequence[Path]) -> Iterator[tuple[Path, ...]]:
    """Give new empty files under other names, which take the places of `paths` all or none.

    All are on the disk before the first takes its name, and `take_names` renames them. After any
    exception, an interrupt included, all that stood at `paths` stays as it was.

    Not even ``kill -9`` or a power failure leaves half a file. If it comes between two renames,
    the first files are new and the others as before. What tells so are hidden files beside them:
    ``.NAME.*.partial`` of a file that did not take its name, ``.NAME.*.replaced`` of what stood at
    NAME before. Where there is one of these, do the work again, then delete it.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     paths = Path(folder, "train.txt"), Path(folder, "test.txt")
    ...     with appearing_together(paths) as temporary:
    ...         for file in temporary:
    ...             _ = file.write_text("42")
    ...         print([path.exists() for path in paths])
    ...     print([path.read_text() for path in paths])
    [False, False]
    ['42', '42']
    """
    for path in paths:
        check_writable(path)
    pairs = [(hidden_name(path, "partial"), path) for path in paths]
    try:
        for temporary, path in pairs:
            with naming(path):
                temporary.touch(exist_ok=False)
        yield tuple(temporary for temporary, _ in pairs)
        for temporary, path in pairs:
            with naming(path):
                if path.exists():
                    shutil.copymode(path, temporary)  # who may read it stays as it was
                _to_disk(temporary)
        take_names(pairs)
    finally:
        for temporary, _ in pairs:
            temporary.unlink(missing_ok=True)


def hidden_name(path: Path, ending: str) -> Path:
    """Return a new name beside `path`, which is not listed and not read."""
    # Only the head of the name: with all of a very long one, the new name would be too long.
    return path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.{ending}")


def take_names(pairs: Sequence[tuple[Path, Path]]) -> None:
    """Rename files or folders, (from, to) each, all or none of them.

    Signals that ask the process to end wait until it is done. Where a name cannot be taken, those
    before it are given back to what had them.
    """
    taken: list[tuple[Path, Path, Path | None]] = []
    with signals_held():
        try:
            for k, (temporary, path) in enumerate(pairs):
                with naming(path):
                    # Nothing can fail after the last one.
                    aside = _set_aside(path) if k < len(pairs) - 1 else None
                    taken.append((temporary, path, aside))
                    temporary.replace(path)
        except OSError as error:
            stuck = _given_back(taken)
            if stuck:
                raise OSError(f"{error} {stuck[0]}") from error
            raise
        for _, _, aside in taken:
            if aside is not None:
                aside.unlink(missing_ok=True)
        for folder in {path.parent for _, path in pairs}:
            _names_to_disk(folder)


def _set_aside(path: Path) -> Path | None:
    """Give what stands at `path` a second name, to be put back by; None if nothing stands there."""
    if not os.path.lexists(path):
        return None
    aside = hidden_name(path, "replaced")
    try:
        os.link(path, aside, follow_symlinks=False)
    except (OSError, NotImplementedError):  # some file systems have no second names
        path.replace(aside)
    return aside


def _given_back(taken: Sequence[tuple[Path, Path, Path | None]]) -> list[str]:
    """Undo renames, the last first; return sentences on those for which that failed."""
    stuck = []
    for temporary, path, aside in reversed(taken):
        try:
            if aside is not None and not (temporary.exists() and path.exists()):
                aside.replace(path)
            elif aside is not None:
                aside.unlink()
            elif not temporary.exists():
                path.replace(temporary)
        except OSError:
            old = "" if aside is None else f"; what it was is {aside.name} beside it"
            stuck.append(f"{path} is new already, and could not be put back{old}.")
    return stuck


@contextmanager
def signals_held() -> Iterator[None]:
    """Delay signals that ask the process to end until the end of a block.

    Python hands signals to the main thread only: in another one this does nothing, as the block
    is not interrupted there, unless the process ends meanwhile.
    """
    if current_thread() is not main_thread():
        yield
        return
    waiting: list[int] = []

    def wait(number: int, _: FrameType | None) -> None:
        waiting.append(number)

    handlers = {number: signal.getsignal(number) for number in _ENDINGS}
    # Ignored signals stay ignored; handlers not set from Python (None) could not be put back.
    fixed = (None, signal.SIG_IGN)
    held = {number: handler for number, handler in handlers.items() if handler not in fixed}
    try:
        for number in held:
            signal.signal(number, wait)
        yield
    finally:
        for number, handler in held.items():
            signal.signal(number, handler)
        for number in dict.fromkeys(waiting):
            signal.raise_signal(number)


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


def _names_to_disk(folder: Path) -> None:
    """Write the names of a folder to the disk, where the system lets folders be opened."""
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _user() -> int:
    """Return the number of the user, 0 on systems without such numbers."""
    return os.geteuid() if hasattr(os, "geteuid") else 0
