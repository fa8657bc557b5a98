"""Memory that tasks free and ask for again, without the system in between.

Dask starts workers with ``MALLOC_TRIM_THRESHOLD_``, so that memory goes back to the system as soon
as it is free. A task frees and asks for the same few megabytes for every chunk: each time the
system has to clear them anew, which took a third of all time. While tasks run, that much is kept.
"""

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

# The names and defaults of glibc; arrays of more than 32 MiB always come from the system.
_TRIM, _MMAP = -1, -3
_DEFAULT = 2**17
_KEPT, _LARGEST = 2**26, 2**25

_lock = Lock()
_users = 0


@contextmanager
def memory_kept() -> Iterator[None]:
    """Keep up to 64 MiB that are free for as long as any thread is within the context.

    Only where glibc has been told to keep little. Left to itself it soon finds out what to keep,
    which it would not any more once told.
    """
    global _users  # noqa: PLW0603 - the setting is one of the process
    glibc = _glibc()
    before = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    if glibc is None or not before.isdecimal():
        yield
        return
    with _lock:
        _users += 1
        if _users == 1:
            _set(glibc, _KEPT, _LARGEST)
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if not _users:
                _set(glibc, int(before), _DEFAULT)


def _set(glibc: Any, trim: int, mmap: int) -> None:
    glibc.mallopt(_TRIM, trim)
    glibc.mallopt(_MMAP, mmap)


@cache
def _glibc() -> Any:
    """Return the C library of this process, or None where it cannot be told what to keep."""
    try:
        library = ctypes.CDLL(None)
    except (OSError, TypeError):
        return None
    return library if hasattr(library, "gnu_get_libc_version") else None
