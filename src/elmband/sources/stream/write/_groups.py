"""Blocks of any number of rows, made into groups of one size."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elmband.ground.arrays import Array, to_numpy

_MOST = 65_536

Rows: TypeAlias = NDArray[np.floating[Any]]


class Groups:
    """Rows gathered in memory to groups of one size, before they are handed on."""

    def __init__(
        self, hand_on: Callable[[Rows], None], columns: tuple[str, ...], dtype: np.dtype[Any]
    ) -> None:
        self._hand_on = hand_on
        self._rows = np.empty((_group_size(len(columns), dtype), len(columns)), dtype)
        self._filled = 0

    def add(self, block: Array) -> None:
        """Gather the rows of a block, and hand on the groups that it fills."""
        rows = to_numpy(block)
        k = self._rows.shape[1]
        if rows.ndim != 2 or rows.shape[1] != k or rows.dtype.kind not in "fiub":
            raise ValueError(
                f"A block to write has shape {rows.shape} and type {rows.dtype}, expected "
                f"real numbers of shape (n, {k}): one column for each name."
            )
        while len(rows):
            part = rows[: len(self._rows) - self._filled]
            rows = rows[len(part) :]
            self._rows[self._filled : self._filled + len(part)] = part
            self._filled += len(part)
            if self._filled == len(self._rows):
                self.flush()

    def flush(self) -> None:
        """Hand on what has been gathered."""
        if self._filled:
            self._hand_on(self._rows[: self._filled])
        self._filled = 0


class ColumnGroups:
    """The same of columns of any types: blocks are gathered until they are a group."""

    def __init__(self, hand_on: Callable[[list[Array]], None], columns: tuple[str, ...]) -> None:
        self._hand_on, self._columns = hand_on, columns
        self._blocks: list[list[Array]] = []

    def add(self, block: Mapping[str, Array]) -> None:
        """Gather the rows of a block, and hand on what is a group."""
        self._blocks.append([to_numpy(block[name]) for name in self._columns])
        if sum(len(columns[0]) for columns in self._blocks) >= _MOST:
            self.flush()

    def flush(self) -> None:
        """Hand on what has been gathered."""
        if self._blocks:
            self._hand_on([np.concatenate(parts) for parts in zip(*self._blocks, strict=True)])
        self._blocks = []


def _group_size(k: int, dtype: np.dtype[Any]) -> int:
    """Return the rows of a group: 65,536, or fewer where so many would take more than 32 MiB."""
    return int(min(_MOST, max(1024, 2**25 // (k * dtype.itemsize))))
