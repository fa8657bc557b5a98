"""Hidden outputs that stay on a device between the passes of a fit.

A device has far more memory than chunks need. Where all hidden outputs of resident rows fit in a
part of what is free, each is computed once instead of once per pass; the results are the same.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from array_api_compat import is_torch_array

from elmband._arrays import Array
from elmband.device import room
from elmband.rows import ArrayRows


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


_kept: ContextVar[Kept | None] = ContextVar("kept", default=None)


@contextmanager
def keeping(rows: Any) -> Iterator[None]:
    """Keep hidden outputs of rows that are on a GPU as a whole, until the context ends."""
    token = _kept.set(_kept_for(rows))
    try:
        yield
    finally:
        _kept.reset(token)


def _kept_for(rows: Any) -> Kept | None:
    if not isinstance(rows, ArrayRows) or not is_torch_array(rows.X):
        return None
    X: Any = rows.X
    if X.device.type != "cuda":
        return None
    return Kept(X, int(room(X.device)))


def forget() -> None:
    """Let go of what is kept: memory is short."""
    kept = _kept.get()
    if kept is not None:
        kept.forget()


def once(part: Array, owner: Any, function: Callable[[Array], Array]) -> Array:
    """Return what `function` makes of some rows, kept from an earlier pass where that is so."""
    kept = _kept.get()
    return function(part) if kept is None else kept.of(part, owner, function)
