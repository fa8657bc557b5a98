"""Where sums run: at present one chunk after the other in the calling thread."""

from collections.abc import Callable, Iterable
from functools import reduce
from operator import add
from typing import Any, Protocol, Self, TypeVar

from elmband.moments import Chunk


class Summable(Protocol):
    """Anything that adds up."""

    def __add__(self, other: Any, /) -> Self: ...


S = TypeVar("S", bound=Summable)


def total(rows: Iterable[Chunk], chunk_map: Callable[[Chunk], S]) -> S:
    """Add up what `chunk_map` makes of every chunk."""
    return reduce(add, map(chunk_map, rows))
