"""Blocks of any length, cut and joined to chunks of one length."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.stream.checks import check_values
from elmband.sources.stream.fields import Block, Part, SlicedField
from elmband.sources.stream.layout import FLOAT64, DType
from elmband.sources.stream.selection import Selection
from elmband.sums.moments import Chunk


class Run(NamedTuple):
    """Neighbouring columns of a field that stay neighbours in X, Y or s."""

    role: int
    source: int
    place: int
    length: int


class Reader:
    """Reads the chosen columns of parts as chunks.

    Parameters
    ----------
    selection : Selection
        The columns.
    dtype : dtype
        Of the features; targets and weights are float64.
    gaps : bool, default=False
        Whether targets may be missing.
    lent : bool, default=False
        Whether chunks are valid until the next one only, and their features not checked: who
        moves them elsewhere at once copies them once, and checks them there.

    Attributes
    ----------
    n_rows : int
        Rows of all parts that were passed so far, skipped ones included.
    n_gaps : int
        Rows without a target among those that were read.
    """

    def __init__(
        self, selection: Selection, dtype: DType, *, gaps: bool = False, lent: bool = False
    ) -> None:
        self._widths = [len(keys) for keys in selection.roles]
        self._dtypes = (dtype, FLOAT64, FLOAT64)
        self._selection, self._gaps, self._lent = selection, gaps, lent
        self._runs = runs_of(selection)
        self._others: list[Array] | None = None
        self.n_rows = self.n_gaps = 0

    def chunks(self, parts: Iterable[Part], size: int, skip: int) -> Iterator[list[Array]]:
        """Yield features, targets and weights of `size` rows, the first `skip` rows left out."""
        out, filled = self._empty(size), 0
        for block, first in self._blocks(parts, skip):
            done = first
            while done < block.n_rows:
                n = min(block.n_rows - done, size - filled)
                if n == size and (X := self._view(block, done, size)) is not None:
                    yield self._beside(X, block, done)
                    done += n
                    continue
                self._fill(block, done, [a[filled : filled + n] for a in out])
                done, filled = done + n, filled + n
                if filled == size:
                    yield out
                    # Memory that is lent is used again: fresh memory is cleared first.
                    out, filled = out if self._lent else self._empty(size), 0
        if filled:
            yield [a[:filled] for a in out]

    def _view(self, block: Block, first: int, size: int) -> Array | None:
        """Return the features of a whole chunk where they lie in memory as they are needed."""
        runs = [(name, run) for name, runs in self._runs.items() for run in runs if run.role == 0]
        if not self._lent or len(runs) != 1:
            return None
        ((name, _),) = runs
        field = block.fields[name]
        if not isinstance(field, SlicedField):
            return None
        rows = field.rows(first, first + size)
        same = rows.shape == (size, self._widths[0]) and rows.dtype == self._dtypes[0]
        return rows if same and rows.flags.c_contiguous else None

    def _beside(self, X: Array, block: Block, first: int) -> list[Array]:
        """Read targets and weights of the rows of such features."""
        if self._others is None or len(self._others[0]) != len(X):
            self._others = self._empty(len(X))[1:]
        others = self._others
        reader = Reader(self._selection.only(targets=True), X.dtype, gaps=self._gaps)
        reader._fill(block, first, [X[:, :0], *others])
        self.n_gaps += reader.n_gaps
        return [X, *others]

    def _empty(self, size: int) -> list[Array]:
        pairs = zip(self._widths, self._dtypes, strict=True)
        return [np.empty((size, width), dtype) for width, dtype in pairs]

    def _blocks(self, parts: Iterable[Part], skip: int) -> Iterator[tuple[Block, int]]:
        """Yield every block with the place of its first row that is not skipped."""
        names = self._selection.fields
        for part in parts:
            n_rows = part.layout.rows(names)
            if n_rows is None or skip < n_rows:
                n_rows = 0
                for block in part.blocks(names, skip):
                    yield block, max(skip - block.first, 0)
                    n_rows = block.first + block.n_rows
            self.n_rows += n_rows
            skip = max(skip - n_rows, 0)

    def _fill(self, block: Block, first: int, out: list[Array]) -> None:
        self._copy(block, first, first + len(out[0]), out)
        self._check(block, first, out)

    def _check(self, block: Block, first: int, out: list[Array]) -> None:
        place = block.first + first
        looked_at = [out[0][:, :0], *out[1:]] if self._lent else out
        check_values(block.layout, place, self._selection, looked_at, gaps=self._gaps)
        if self._gaps:
            self.n_gaps += int(np.count_nonzero(np.isnan(out[1]).any(axis=1)))

    def _copy(self, block: Block, first: int, stop: int, out: list[Array]) -> None:
        """Write the rows of a block to where they belong."""
        for name, runs in self._runs.items():
            field = block.fields[name]
            width = block.layout.fields[name].columns
            if len(runs) == 1 and runs[0].length == width == out[runs[0].role].shape[1]:
                field.read_into(first, stop, out[runs[0].role])
                continue
            rows = field.rows(first, stop)
            for role, source, place, length in runs:
                if rows.ndim == 1:
                    out[role][:, place] = rows
                else:
                    out[role][:, place : place + length] = rows[:, source : source + length]


def kept(Y: Array, s: Array) -> Array:
    """Tell which rows are not left out: those with all targets and a weight above 0."""
    known = ~np.isnan(Y).any(axis=1)
    return known & (s[:, 0] > 0) if s.shape[1] else known


def kept_rows(chunks: Iterable[list[Array]]) -> Iterator[Chunk]:
    """Leave out rows of weight 0 and rows without a target, and chunks that have no others."""
    for X, Y, s in chunks:
        weights = s[:, 0] if s.shape[1] else None
        if weights is None and not np.isnan(Y.sum()):
            # The usual case, in a fraction of the time.
            yield Chunk(X, Y, None)
            continue
        rows = kept(Y, s)
        if rows.all():
            yield Chunk(X, Y, weights)
        elif rows.any():
            yield Chunk(X[rows], Y[rows], None if weights is None else weights[rows])


def runs_of(selection: Selection) -> dict[str, list[Run]]:
    """Find what is copied together, field by field."""
    runs: dict[str, list[Run]] = {}
    for role, keys in enumerate(selection.roles):
        steps = groupby(enumerate(keys), lambda item: (item[1].field, item[1].column - item[0]))
        for (name, _), items in steps:
            together = list(items)
            place, key = together[0]
            runs.setdefault(name, []).append(Run(role, key.column, place, len(together)))
    return runs
