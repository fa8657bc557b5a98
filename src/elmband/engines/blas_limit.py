"""One BLAS thread for as long as anybody asks for it: the limit holds for a whole process.

Each of two limits that overlap in time, in two threads, would put back what it found when it began:
the one that ends last would leave the limit of the other behind for good. Here there is one limit.
Whoever comes first sets it, whoever leaves last takes it away.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import RLock
from typing import Any

from threadpoolctl import ThreadpoolController


class BlasLimit:
    """A context of one BLAS thread; any threads may enter it at once, and leave it in any order."""

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._restart)

    def _forget(self) -> None:
        # Reentrant: garbage collection may end a generator with the limit while we hold the lock.
        self._lock, self._users, self._limit = RLock(), 0, None

    def __enter__(self) -> None:
        with self._lock:
            self._users += 1
            if self._limit is None:
                try:
                    with _by_any_thread():
                        self._limit = _libraries().limit(limits=1, user_api="blas")
                except BaseException:
                    self._users -= 1
                    raise

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._users = max(self._users - 1, 0)
            if not self._users:
                self._restore()

    @property
    def holds(self) -> bool:
        """Whether anybody asks for one thread now."""
        return self._limit is not None

    def _restore(self) -> None:
        limit: Any = self._limit
        self._limit = None
        if limit is not None:
            with _by_any_thread():
                limit.restore_original_limits()

    def _restart(self) -> None:
        """Begin anew in a forked process: the threads that hold the limit are not there."""
        limit = self._limit
        self._forget()
        self._limit = limit
        self._restore()


@contextmanager
def _by_any_thread() -> Iterator[None]:
    """Let this thread set the number of BLAS threads, which another thread may have set before.

    Since version 3.8 threadpoolctl does nothing, and says nothing, in all threads but the one that
    was the first to set the threads of OpenBLAS.
    """
    frees = [getattr(lib, "clear_controlling_thread", None) for lib in _libraries().lib_controllers]
    for free in filter(None, frees):
        free(force=True)
    try:
        yield
    finally:
        for free in filter(None, frees):
            free(force=True)


@cache
def _libraries() -> ThreadpoolController:
    """Find the BLAS libraries of this process, once: beside PyTorch that takes 17 ms."""
    # SciPy may bring a BLAS of its own, which is loaded with this module.
    import scipy.linalg  # noqa: F401, PLC0415

    return ThreadpoolController()


one_blas_thread = BlasLimit()
