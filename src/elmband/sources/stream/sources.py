"""Where parts come from: a list that is known beforehand, or a function that makes them."""

from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any

from elmband.sources.stream.csv_dialect import CsvDialect
from elmband.sources.stream.fields import Part
from elmband.sources.stream.pieces import file_parts, is_array, is_path, piece_part, refuse_dialect
from elmband.sources.stream.tables import library_of_table


class PartList:
    """Parts that are known beforehand.

    Parameters
    ----------
    title : str
        What they are, in a few words.
    parts : iterable of Part
        One at least.
    """

    def __init__(self, title: str, parts: Iterable[Part]) -> None:
        self.title, self.parts = title, tuple(parts)

    def __iter__(self) -> Iterator[Part]:
        return iter(self.parts)

    @property
    def padded(self) -> frozenset[str]:
        """Columns of whole numbers that may be names, as some of them begin with zeros."""
        return frozenset().union(*(part.padded for part in self.parts))

    def map(self, change: Callable[[Part], Part]) -> "PartList":
        """Return the same rows with every part read otherwise."""
        return PartList(self.title, map(change, self.parts))


class PartFunction:
    """Parts that a function makes anew for every pass.

    Parameters
    ----------
    function : callable without arguments
        Returns an iterator of pieces.
    """

    parts = ()
    padded: frozenset[str] = frozenset()

    def __init__(self, function: Callable[[], Iterable[Any]]) -> None:
        self._function = function
        self._last: Iterator[Any] | None = None
        name = getattr(function, "__qualname__", type(function).__qualname__)
        self.title = f"{name}()"
        self.name = f"{getattr(function, '__module__', '')}.{name}"

    def map(self, change: Callable[[Part], Part]) -> "PartFunction":
        """Return the same: pieces know their types and names."""
        del change
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "_last": None}

    def __iter__(self) -> Iterator[Part]:
        pieces = self._pieces()
        try:
            for k, piece in enumerate(pieces):
                yield piece_part(f"Piece {k} of {self.title}", piece)
        finally:
            # A pass may end early; what a generator has open is closed then too.
            if isinstance(pieces, Generator):
                pieces.close()

    def _pieces(self) -> Iterator[Any]:
        """Call the function, and refuse an iterator that an earlier pass has begun to use up."""
        made = self._function()
        if not isinstance(made, Iterable) or is_array(made) or library_of_table(made):
            raise ValueError(
                f"{self.title} returned {type(made).__name__}; it must return an iterator of "
                "pieces."
            )
        pieces = iter(made)
        if pieces is self._last:
            raise ValueError(
                f"{self.title} returned the same iterator twice; it must make a new one each time."
            )
        self._last = pieces
        return pieces


def as_source(source: Any, asked: CsvDialect) -> PartList | PartFunction:
    """Return whatever a user hands over as parts; CSV files are written as `asked`."""
    if is_path(source):
        return PartList(str(source), file_parts(source, asked))
    if isinstance(source, list):
        return _listed(source, asked)
    refuse_dialect(asked, "source")
    if isinstance(source, tuple) or is_array(source) or library_of_table(source):
        part = piece_part("source", source)
        return PartList(part.layout.label, [part])
    if callable(source):
        return PartFunction(source)
    raise ValueError(
        f"source is of type {type(source).__name__}; give a path, a list of paths or pieces, "
        "arrays, a table, or a function that returns an iterator of pieces."
    )


def _listed(items: list[Any], asked: CsvDialect) -> PartList:
    if not items:
        raise ValueError("source is an empty list; name one file or piece at least.")
    parts: list[Part] = []
    for k, item in enumerate(items):
        if is_path(item):
            parts += file_parts(item, asked)
            continue
        refuse_dialect(asked, f"source[{k}]")
        parts.append(piece_part(f"source[{k}]", item))
    more = f" and {len(items) - 1} more" if len(items) > 1 else ""
    first = str(items[0]) if is_path(items[0]) else parts[0].layout.label
    return PartList(first + more, parts)
