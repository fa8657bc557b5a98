"""A folder for one process at a time: a lock that ends with the process that holds it.

The system keeps the lock (`flock`, on Windows a locked byte), so that one whose process was killed
never blocks another. A file in the folder holds it, and tells others who has it.

Network file systems: NFS and SMB hand such locks to their server, and processes of several machines
keep apart. A mount with locks of its own (`local_lock`, `nobrl`) keeps apart those of one machine
only. A file system without locks leaves the file itself: it is obeyed if it names another machine,
or a process of this one that is alive, and what to delete is said.
"""

import errno
import json
import os
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from weakref import WeakSet

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LOCK_NAME = "in-use.lock"
"""Name of the file that holds the lock of a folder."""

# Errors of file systems without locks, and of a lock that somebody else has.
_NO_LOCKS = {errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.ENOLCK, errno.EINVAL}
_TAKEN = {errno.EAGAIN, errno.EACCES, errno.EDEADLK}
# A link could lead to a file of somebody else, which would be overwritten.
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
# Windows lets nobody read a locked byte: lock one far behind the text.
_LOCKED_BYTE = 2**30
_LONGEST_NOTE = 1000
_held: WeakSet["FolderLock"] = WeakSet()


class FolderLock:
    """The lock of an existing folder, held from here on until `release`.

    Raises
    ------
    BlockingIOError
        If another process has it, or another thread of this one; it says who, and since when.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     lock = FolderLock(Path(folder))
    ...     try:
    ...         FolderLock(Path(folder))
    ...     except BlockingIOError as error:
    ...         print("is in use by process" in str(error))
    ...     lock.release()
    True
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._path = folder, folder / LOCK_NAME
        self._file: int | None = None
        while self._file is None:
            self._file = self._opened()
        _held.add(self)

    def _opened(self) -> int | None:
        """Return the locked file, or None if it was removed by its last holder meanwhile."""
        file = os.open(self._path, _FLAGS, 0o666)
        try:
            self._take(file)
            if not _is_same(file, self._path):
                os.close(file)
                return None
            _write_note(file)
        except BaseException:
            os.close(file)
            raise
        return file

    def _take(self, file: int) -> None:
        """Take the lock, or refuse because somebody has it."""
        try:
            _lock(file)
        except OSError as error:
            if error.errno in _TAKEN:
                raise BlockingIOError(self._refusal(_note(file))) from None
            if error.errno not in _NO_LOCKS:
                raise
            note = _note(file)
            if _may_be_alive(note):
                # Without locks, the system does not tell whether the holder is gone.
                hint = f" If that process is gone, delete {self._path}."
                raise BlockingIOError(self._refusal(note) + hint) from None

    def _refusal(self, note: dict[str, Any]) -> str:
        who = "another process"
        if note:
            who = f"process {note['process']} on {note['host']}, since {note['since']}"
        return (
            f"The checkpoint folder {self._folder} is in use by {who}: wait until that fit is "
            "done, or name another folder."
        )

    def release(self) -> None:
        """Let others have the folder; the file of the lock is removed."""
        if self._file is None:
            return
        file, self._file = self._file, None
        _held.discard(self)
        if fcntl is not None:
            # While the lock is held: afterwards the file could be that of the next holder.
            self._path.unlink(missing_ok=True)
            os.close(file)
            return
        os.close(file)
        # Windows removes no open file, which is what protects the next holder's.
        with suppress(OSError):
            self._path.unlink(missing_ok=True)

    def _forget(self) -> None:
        """Close the copy that a forked process has: the lock shall not outlive its holder."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _forget_all() -> None:
    for lock in list(_held):
        lock._forget()  # noqa: SLF001


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _lock(file: int) -> None:
    """Take the lock of an open file at once, or raise an `OSError`."""
    if fcntl is not None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return
    import msvcrt  # noqa: PLC0415 - of Windows

    os.lseek(file, _LOCKED_BYTE, os.SEEK_SET)
    msvcrt.locking(file, msvcrt.LK_NBLCK, 1)


def _is_same(file: int, path: Path) -> bool:
    """Tell whether an open file is still the one of this name."""
    try:
        named = path.stat()
    except FileNotFoundError:
        return False
    return os.path.samestat(os.fstat(file), named)


def _write_note(file: int) -> None:
    note = {
        "process": os.getpid(),
        "host": socket.gethostname(),
        "since": f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
    }
    os.ftruncate(file, 0)
    os.lseek(file, 0, os.SEEK_SET)
    os.write(file, json.dumps(note).encode())


def _note(file: int) -> dict[str, Any]:
    """Return what the holder has written; nothing where it is about to, or was cut off."""
    os.lseek(file, 0, os.SEEK_SET)
    try:
        note = json.loads(os.read(file, _LONGEST_NOTE))
        return {
            "process": int(note["process"]),
            **{k: "".join(filter(str.isprintable, str(note[k])[:80])) for k in ("host", "since")},
        }
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return {}


def _may_be_alive(note: dict[str, Any]) -> bool:
    """Tell whether the process of a note may be there still; of another machine one cannot know."""
    if not note:
        return False
    if note["host"] != socket.gethostname() or fcntl is None:
        return True
    try:
        os.kill(note["process"], 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
