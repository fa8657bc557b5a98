"""Keep freed memory in the process, for tasks that ask for the same again.

Dask starts workers with ``MALLOC_TRIM_THRESHOLD_``, so that memory goes back to the system as soon
as it is free. A task frees and asks for the same few megabytes for every chunk: each time the
system has to clear them anew, which took a third of all time. During a pass, that much is kept.
"""

import ctypes
import os
from functools import cache
from threading import RLock
from typing import Any
from weakref import WeakSet, finalize

# The names and defaults of glibc; arrays of more than 32 MiB always come from the system.
_TRIM, _MMAP = -1, -3
_DEFAULT = 2**17
_KEPT, _LARGEST = 2**26, 2**25

# The end of a pass may be noticed anywhere, also by a thread that is just beginning another.
_lock = RLock()
_passes: WeakSet[Any] = WeakSet()
_count = 0


def keep_memory(work: Any) -> None:
    """Keep up to 64 MiB of free memory while `work` lives, which all tasks of a pass share.

    Only where glibc has been told to keep little. Left to itself it soon finds out what to keep,
    which it would not any more once told.
    """
    global _count  # noqa: PLW0603 - the setting is one of the process
    before = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    if not before.isdecimal() or _glibc() is None:
        return
    with _lock:
        if work in _passes:
            return
        _passes.add(work)
        _count += 1
        if _count == 1:
            _set(_KEPT, _LARGEST)
        finalize(work, _ended, int(before)).atexit = False


def _ended(before: int) -> None:
    """Restore the setting when the last pass has ended."""
    global _count  # noqa: PLW0603
    with _lock:
        _count -= 1
        if not _count:
            _set(before, _DEFAULT)


def _set(trim: int, mmap: int) -> None:
    _glibc().mallopt(_TRIM, trim)
    _glibc().mallopt(_MMAP, mmap)


@cache
def _glibc() -> Any:
    """Return the C library of this process, or None where it cannot be told what to keep."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return library if hasattr(library, "gnu_get_libc_version") else None
