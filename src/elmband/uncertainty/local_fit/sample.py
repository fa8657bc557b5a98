"""The rows that local layers are fitted to: all, or as many as fit into a stated memory.

They are sampled in one pass by hashes of their inputs, so that neither their order nor chunks
matter, and the rows that a stack is judged on are among them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from elmband.engines import engine
from elmband.ground.arrays import double, namespace, to_numpy
from elmband.stacks.ensemble import Stack
from elmband.stacks.kept_rows import Keys
from elmband.stacks.levels import Block, Levels, MarkLevels
from elmband.stacks.local_layers import SharedNeurons
from elmband.stacks.pool import Pool, row_hashes, row_weights
from elmband.sums.moments import Chunk, Moments
from elmband.sums.sample import taken, without_negligible

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Singles: TypeAlias = np.ndarray[Any, np.dtype[np.float32]]
Places: TypeAlias = np.ndarray[Any, np.dtype[np.int32]]
Marks: TypeAlias = np.ndarray[Any, np.dtype[np.int16]]

# Bytes of all rows together, and rows beyond which more of them tell little.
_MEMORY = 256_000_000
_MOST_ROWS = 1_200_000
_BYTES_BESIDE = 32
_ALL = 2**64


class InputLayout(NamedTuple):
    """How inputs are held: one-hot blocks as the places of their marks, all others as they are."""

    blocks: tuple[Block, ...]
    others: np.ndarray[Any, np.dtype[np.int64]]
    mark: Singles
    no_mark: Singles

    @classmethod
    def of(cls, shared: SharedNeurons, blocks: Sequence[Block]) -> Self:
        """Plan it for standardised inputs of which some are marks."""
        mean, scale = (np.asarray(a) for a in (shared.inputs.mean, shared.inputs.scale))
        others = np.ones(len(mean), bool)
        for start, stop in blocks:
            others[start:stop] = False
        mark, no_mark = (((value - mean) / scale).astype(np.float32) for value in (1.0, 0.0))
        return cls(tuple(blocks), np.flatnonzero(others), mark, no_mark)

    def packed(
        self, X: Floats, shared: SharedNeurons, places: Sequence[Any]
    ) -> tuple[Singles, Marks]:
        """Return the other inputs of rows, standardised, and their marks, -1 for none.

        `places` are those of the marks in every block.
        """
        marks = np.full((len(X), len(self.blocks)), -1, np.int16)
        for k, (start, stop) in enumerate(self.blocks):
            marks[:, k] = np.where(places[k] < stop - start, places[k], -1)
        return shared.standardised(X[:, self.others], self.others), marks

    def standardised(self, numbers: Singles, marks: Marks) -> Singles:
        """Return all standardised inputs (n, d); rows without a mark have the mean of each."""
        Z = np.tile(self.no_mark, (len(numbers), 1))
        Z[:, self.others] = numbers
        for k, (start, stop) in enumerate(self.blocks):
            place = marks[:, k]
            rows = np.flatnonzero(place >= 0)
            column = start + place[rows]
            Z[rows, column] = self.mark[column]
            Z[np.flatnonzero(place < 0), start:stop] = 0
        return Z


class LocalRows(NamedTuple):
    """Inputs as an `InputLayout` holds them, weights, hashes, and levels by candidate (n, c).

    `target` are standardised targets less the mean of a stack, corrected for the share that a row
    has in it, and `mean` is that mean.
    """

    numbers: Singles
    marks: Marks
    s: Floats
    keys: Keys
    levels: Places
    target: Floats
    mean: Floats

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.s)

    def taken(self, index: Any) -> Self:
        """Return the rows at these positions."""
        return type(self)(*(array[index] for array in self))


@dataclass(frozen=True, eq=False)
class _Collected(Moments):
    """Rows of some chunks, in their order."""

    parts: tuple[LocalRows, ...]


def _joined(parts: list[Any]) -> Any:
    """Join arrays, and let go of each once it has been copied."""
    rows = sum(len(part) for part in parts)
    found = np.empty((rows, *parts[0].shape[1:]), parts[0].dtype)
    start = 0
    for k, part in enumerate(parts):
        found[start : start + len(part)] = part
        start += len(part)
        parts[k] = None
    return found


def local_rows(
    pool: Pool, stack: Stack, shared: SharedNeurons, layout: InputLayout, levels: Sequence[Levels]
) -> LocalRows:
    """Collect rows to fit local layers to, with what a stack leaves over of them."""
    size = 4 * len(layout.others) + 2 * len(layout.blocks) + 4 * len(levels) + _BYTES_BESIDE
    most = min(_MEMORY // size, _MOST_ROWS)
    share = min(most / pool.n_distinct, 1.0)
    limit = np.uint64(min(int(share * _ALL), _ALL - 1))
    left_over = _left_over(stack)

    def chunk_map(chunk: Chunk) -> _Collected:
        chunk = without_negligible(chunk)
        keys = row_hashes(chunk, pool.inputs, pool.seed)
        index = np.flatnonzero(keys <= limit)
        if len(index) < len(keys):
            chunk, keys = taken(chunk, index), keys[index]
        return _Collected((_rows_of(chunk, keys, shared, layout, levels, left_over),))

    # Column by column, so that there is twice the memory of one column and not of all.
    columns = [list(c) for c in zip(*_parts(pool, chunk_map), strict=True)]
    return LocalRows(*map(_joined, columns))


def _parts(pool: Pool, chunk_map: Callable[[Chunk], _Collected]) -> tuple[LocalRows, ...]:
    """Collect rows; nobody else holds them."""
    return engine.total(pool.rows, chunk_map, "rows for local layers").parts


def _rows_of(
    chunk: Chunk,
    keys: Keys,
    shared: SharedNeurons,
    layout: InputLayout,
    levels: Sequence[Levels],
    left_over: Callable[[Chunk], tuple[Any, Any]],
) -> LocalRows:
    target, mean = left_over(chunk)
    # Rows of every array library are held, and layers fitted, in NumPy.
    X = to_numpy(chunk.X)
    marked = {MarkLevels(*block): MarkLevels(*block).places(X) for block in layout.blocks}
    places = [(marked[one] if one in marked else one.places(X)).astype(np.int32) for one in levels]
    return LocalRows(
        *layout.packed(X, shared, list(marked.values())),
        s=to_numpy(row_weights(chunk)),
        keys=keys,
        levels=np.stack(places, axis=1),
        target=to_numpy(target),
        mean=to_numpy(mean),
    )


def _left_over(stack: Stack) -> Callable[[Chunk], tuple[Any, Any]]:
    """Return what makes of rows their errors and the mean of a stack, each (n,).

    Of each member the error of a row is r / (1 - Σ lev / n), with the mean leverage of all rows in
    place of its own: of many rows all leverages are small.
    """
    parts = [
        (fitted.member, fitted.degrees / fitted.eigen.n, stack.weights[k, 0])
        for k, fitted in enumerate(stack.fitted)
    ]
    lacking = 1 - namespace(stack.weights).sum(stack.weights[:, 0])

    def left_over(chunk: Chunk) -> tuple[Any, Any]:
        y = double(chunk.Y[:, 0])
        error = lacking * y
        mean = 0 * y
        for member, leverage, weight in parts:
            own = double(member.predict(member.hidden(chunk.X))[:, 0])
            error = error + weight * (y - own) / (1 - leverage)
            mean = mean + weight * own
        return error, mean

    return left_over
