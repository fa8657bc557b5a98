"""Parts made of arrays: one matrix, the tuple (X, y, weight), or the data sets of a file."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from elmband.sources.stream.fields import Block, Field, Part, SlicedField, StoredField
from elmband.sources.stream.layout import DType, FieldInfo, Form, Layout, numbers

_DIMENSIONS = {
    "X": ((2,), "two dimensions"),
    "y": ((1, 2), "one or two dimensions"),
    "weight": ((1,), "one dimension"),
}


class ArraySource(ABC):
    """An array that lies in memory or in a file.

    Parameters
    ----------
    shape : tuple of int
        Rows come first.
    dtype : dtype
        As the library that holds the array calls it.
    paths : sequence of Path
        Files that hold it.
    names : tuple of str or None
        Names of the columns.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: Any,
        paths: Sequence[Path] = (),
        names: tuple[str, ...] | None = None,
    ) -> None:
        self.shape, self.paths, self.names = tuple(shape), tuple(paths), names
        self.kind = str(dtype)
        self.dtype: DType | None = numbers(dtype)
        self.odd = 0

    @abstractmethod
    def open(self) -> AbstractContextManager[Field]:
        """Make the rows readable."""

    @property
    def nbytes(self) -> int:
        """Size in memory."""
        return prod(self.shape) * (self.dtype.itemsize if self.dtype else 0)

    def info(self, name: str) -> FieldInfo:
        """Return what is known without reading."""
        if len(self.shape) in {1, 2}:
            width = self.shape[1] if len(self.shape) == 2 else None
            n_rows = self.shape[0]
            return FieldInfo(name, width, self.dtype, self.kind, n_rows, self.names, self.odd)
        return FieldInfo(name, None, None, f"{self.kind} in {len(self.shape)} dimensions")


class MemoryArray(ArraySource):
    """An array of any library, or a data set of an open file."""

    def __init__(self, array: Any) -> None:
        dtype = str(array.dtype).rpartition(".")[-1]
        super().__init__(array.shape, array.dtype if isinstance(array, np.ndarray) else dtype)
        self._array = array

    def open(self) -> AbstractContextManager[Field]:
        """Return the array itself, which is read by slices."""
        pieces = getattr(self._array, "chunks", None)
        if pieces and isinstance(pieces[0], int):
            return nullcontext(StoredField(self._array, "The array", type(self._array).__name__))
        return nullcontext(SlicedField(self._array))


class ArraysPart(Part):
    """Arrays with one row each for every row of the part."""

    def __init__(self, label: str, form: Form, arrays: Mapping[str, ArraySource]) -> None:
        layout = Layout(label, form, {name: array.info(name) for name, array in arrays.items()})
        paths = dict.fromkeys(path for array in arrays.values() for path in array.paths)
        super().__init__(layout, tuple(paths), sum(array.nbytes for array in arrays.values()))
        self._arrays = arrays

    def blocks(self, names: Sequence[str], start: int) -> Iterator[Block]:
        """Yield a single block: whatever is asked of it is read then."""
        del start
        with ExitStack() as stack:
            fields = {name: stack.enter_context(self._arrays[name].open()) for name in names}
            yield Block(self.layout, 0, self.layout.rows(names) or 0, fields)


def matrix_part(label: str, array: ArraySource) -> ArraysPart:
    """Return one array with two dimensions as a part."""
    if len(array.shape) != 2:
        raise ValueError(
            f"{label} has shape {array.shape}, but must have two dimensions, rows and columns; "
            "reshape it, or give a tuple (X, y)."
        )
    return ArraysPart(label, "matrix", {"": array})


def tuple_part(label: str, arrays: Sequence[ArraySource]) -> ArraysPart:
    """Return X and y, or X, y and weight, as a part."""
    named = dict(zip(_DIMENSIONS, arrays, strict=False))
    for name, array in named.items():
        allowed, words = _DIMENSIONS[name]
        if len(array.shape) not in allowed:
            raise ValueError(
                f"{label}: {name} has shape {array.shape}, but must have {words}; reshape it."
            )
    part = ArraysPart(label, "tuple", named)
    part.layout.rows(part.layout.fields)
    return part
