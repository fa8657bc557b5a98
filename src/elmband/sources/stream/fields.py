"""Rows of columns that lie somewhere, read from any row to any other."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from elmband.ground.arrays import Array, to_numpy
from elmband.sources.stream.errors import reading
from elmband.sources.stream.layout import DType, Layout
from elmband.sources.stream.stamps import Stamp, stamp

# Reads of this size keep disks and codecs busy and still fit the caches of a processor.
READ_BYTES = 4 * 2**20
# HDF5 has no larger pieces; a few bytes of metadata can ask for any size.
_LARGEST = 2**32


class Field(ABC):
    """One or several columns of a block of rows."""

    @abstractmethod
    def rows(self, first: int, stop: int) -> Array:
        """Return these rows, (n,) or (n, width); they are valid until the next call."""

    def read_into(self, first: int, stop: int, out: Array) -> None:
        """Copy these rows to `out`, which has two dimensions."""
        rows = self.rows(first, stop)
        out[...] = rows[:, None] if rows.ndim == 1 else rows

    def raw(self, first: int, stop: int) -> list[Any]:
        """Return these rows column by column, as they are; they are valid until the next call."""
        rows = self.rows(first, stop)
        return [rows] if rows.ndim == 1 else list(rows.T)


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive rows of one part, `first` being the place of its first row there."""

    layout: Layout
    first: int
    n_rows: int
    fields: Mapping[str, Field]


class Part(ABC):
    """One file, or one piece held in memory.

    Parameters
    ----------
    layout : Layout
        The fields that it has.
    paths : sequence of Path
        Files that it reads; none in memory.
    nbytes : int or None
        Size in memory.

    Attributes
    ----------
    source : Path or None
        The path, the folder or the pattern that stands for this part, and maybe for others.
    manner : str
        How it is read, where a user said so and files do not tell.
    padded : frozenset of str
        Columns of whole numbers that may be names, as some of them begin with zeros.
    """

    source: Path | None = None
    manner: str = ""
    padded: frozenset[str] = frozenset()

    def __init__(
        self, layout: Layout, paths: Sequence[Path] = (), nbytes: int | None = None
    ) -> None:
        self.layout = layout
        self.stamps: dict[Path, Stamp] = {path: stamp(path) for path in paths}
        self.nbytes = sum(s.size for s in self.stamps.values()) if self.stamps else nbytes

    @abstractmethod
    def blocks(self, names: Sequence[str], start: int) -> Iterator[Block]:
        """Yield blocks with the named fields, in order, from row `start` on or from before it."""

    def with_text(self, names: Collection[str]) -> "Part":
        """Return the same rows with these columns as text, where a file does not tell types."""
        del names
        return self

    def with_links(self, names: Collection[str]) -> "Part":
        """Return the same rows with these fields too, where a file has other names for some."""
        del names
        return self


class Column(Field):
    """A field of one column that knows its type: None for what is not numbers."""

    dtype: DType | None
    kind: str


class SlicedField(Field):
    """An array in memory, or anything that gives arrays for slices."""

    def __init__(self, array: Array) -> None:
        self._array = array

    def rows(self, first: int, stop: int) -> Array:
        """Return a view, where the library of the array can."""
        return to_numpy(self._array[first:stop, ...])


class StoredField(Field):
    """An array in a store that keeps it in pieces, each of which is read once.

    Pieces may be compressed and much longer than what is asked for, so that the last ones read
    are held until rows beyond them are asked for.
    """

    def __init__(self, array: Any, label: str, kind: str) -> None:
        self._array, self._label, self._kind = array, label, kind
        self._held: tuple[int, Array] = (-1, None)

    @cached_property
    def _step(self) -> int:
        """Number of rows to read at once: as many pieces as make up a good size."""
        shape = self._array.shape
        piece = self._array.chunks[0]
        row = self._array.dtype.itemsize * prod(shape[1:])
        if piece * row > _LARGEST:
            raise ValueError(
                f"{self._label} is stored in pieces of {piece * row / 2**30:.3g} GiB, and a piece "
                "is read at once; write it in smaller ones."
            )
        return int(piece * max(READ_BYTES // max(piece * row, 1), 1))

    def _read(self, step: int) -> Array:
        if self._held[0] != step:
            with reading(self._label, self._kind):
                first = step * self._step
                self._held = step, np.asarray(self._array[first : first + self._step])
        return self._held[1]

    def _pieces(self, first: int, stop: int) -> Iterator[Array]:
        ends = range((first // self._step + 1) * self._step, stop, self._step)
        for a, b in pairwise([first, *ends, stop]):
            step = a // self._step
            yield self._read(step)[a - step * self._step : b - step * self._step]

    def rows(self, first: int, stop: int) -> Array:
        """Return a view of what was read, or a copy where the rows lie in several reads."""
        pieces = list(self._pieces(first, stop))
        return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)

    def read_into(self, first: int, stop: int, out: Array) -> None:
        """Copy these rows to `out`, without joining them before."""
        done = 0
        for piece in self._pieces(first, stop):
            out[done : done + len(piece)] = piece[:, None] if piece.ndim == 1 else piece
            done += len(piece)
