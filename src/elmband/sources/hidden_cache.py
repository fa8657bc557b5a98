"""Hidden outputs that stay in memory between the passes of a fit.

A device has far more memory than chunks need. Where all hidden outputs of resident rows fit in a
part of what is free, each is computed once instead of once per pass; the results are the same.
Beside a processor, those of as many rows are kept as fit in scikit-learn's `working_memory`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any

import numpy as np
from array_api_compat import is_torch_array
from sklearn import get_config

from elmband.ground.arrays import Array
from elmband.sources.device import room
from elmband.sums.rows import ArrayRows


class Kept:
    """What has been computed for parts of the rows X, which stay where they are meanwhile."""

    def __init__(self, X: Array, room: int) -> None:
        self._storage = X.untyped_storage().data_ptr()
        self._room = room
        self._found: dict[Any, tuple[Any, Array]] = {}

    def of(self, part: Array, owner: Any, function: Callable[[Array], Array]) -> Array:
        """Return what `function` makes of some rows; it belongs to `owner`, which tells it apart.

        Only parts of X are kept: the memory of anything else may be used again for other rows.
        """
        if part.untyped_storage().data_ptr() != self._storage:
            return function(part)
        key = (id(owner), part.storage_offset(), tuple(part.shape), part.stride())
        if key in self._found:
            return self._found[key][1]
        H = function(part)
        if H.nbytes <= self._room:
            self._room -= H.nbytes
            # The owner is held as well, so that no other can have its id.
            self._found[key] = (owner, H)
        return H

    def forget(self) -> None:
        """Keep nothing from now on."""
        self._found, self._room = {}, -1


class KeptByRows:
    """The same for NumPy: one array for the first rows of X, which is filled part by part.

    One large array is had from the system far sooner than as many small ones.
    """

    def __init__(self, X: np.ndarray[Any, Any], room: int, *, partly: bool) -> None:
        self._X, self._room, self._partly = X, room, partly
        self._first: dict[int, tuple[Any, np.ndarray[Any, Any]]] = {}
        self._filled: set[tuple[int, int, int]] = set()
        self._lock = Lock()

    def of(
        self,
        part: np.ndarray[Any, Any],
        owner: Any,
        width: int,
        dtype: Any,
        write: Callable[[np.ndarray[Any, Any]], Any],
    ) -> np.ndarray[Any, Any] | None:
        """Return what `write` writes into an array (n, width), or None where there is no room."""
        place = self._place(part)
        if place is None:
            return None
        start, stop = place
        first = self._array(owner, width, dtype)
        if stop > len(first):
            return None
        H = first[start:stop]
        key = (id(owner), start, stop)
        if key not in self._filled:
            write(H)
            self._filled.add(key)
        # Whoever would work in the memory of the chunk would spoil the next pass.
        H.flags.writeable = False
        return H

    def _place(self, part: np.ndarray[Any, Any]) -> tuple[int, int] | None:
        """Return which rows of X these are, None where they are others."""
        X = self._X
        if part.dtype != X.dtype or part.strides != X.strides or part.shape[1] != X.shape[1]:
            return None
        start, offset = divmod(part.ctypes.data - X.ctypes.data, X.strides[0])
        stop = start + len(part)
        return (start, stop) if not offset and 0 <= start < stop <= len(X) else None

    def _array(self, owner: Any, width: int, dtype: Any) -> np.ndarray[Any, Any]:
        """Return the array for one owner, which is held as well: no other can have its id."""
        with self._lock:
            if id(owner) not in self._first:
                size = width * np.dtype(dtype).itemsize
                count = min(self._room // size, len(self._X))
                count = count if self._partly or count == len(self._X) else 0
                first = np.empty((count, width), dtype)
                self._room -= first.nbytes
                self._first[id(owner)] = (owner, first)
            return self._first[id(owner)][1]


_kept: ContextVar[Kept | KeptByRows | None] = ContextVar("kept", default=None)


@contextmanager
def keeping(rows: Any, *, partly: bool = True) -> Iterator[None]:
    """Keep hidden outputs of rows in memory, as far as there is room, until the context ends.

    All passes over the rows but the first gain by it, so there should be more than one. Two passes
    repay a processor for new memory where it holds all rows, hardly where it holds them `partly`.
    """
    token = _kept.set(_kept_for(rows, partly=partly))
    try:
        yield
    finally:
        _kept.reset(token)


def _kept_for(rows: Any, *, partly: bool) -> Kept | KeptByRows | None:
    if not isinstance(rows, ArrayRows):
        return None
    if isinstance(rows.X, np.ndarray):
        # Parts of rows whose stride is zero or negative cannot be told apart by their addresses.
        usable = len(rows.X) > 1 and rows.X.strides[0] > 0
        room_here = int(get_config()["working_memory"] * 2**20)
        return KeptByRows(rows.X, room_here, partly=partly) if usable else None
    if not is_torch_array(rows.X):
        return None
    X: Any = rows.X
    if X.device.type != "cuda":
        return None
    return Kept(X, int(room(X.device)))


def forget() -> None:
    """Let go of what is kept: memory is short."""
    kept = _kept.get()
    if isinstance(kept, Kept):
        kept.forget()


def once(part: Array, owner: Any, function: Callable[[Array], Array]) -> Array:
    """Return what `function` makes of some rows, kept from an earlier pass where that is so."""
    kept = _kept.get()
    return kept.of(part, owner, function) if isinstance(kept, Kept) else function(part)


def written_once(
    part: np.ndarray[Any, Any],
    owner: Any,
    width: int,
    dtype: Any,
    write: Callable[[np.ndarray[Any, Any]], Any],
) -> np.ndarray[Any, Any] | None:
    """Return what `write` makes of some rows, kept from an earlier pass; None where nothing is."""
    kept = _kept.get()
    return kept.of(part, owner, width, dtype, write) if isinstance(kept, KeptByRows) else None
