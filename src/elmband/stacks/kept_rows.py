"""Rows kept by their keys: those with the smallest, whatever the order that rows come in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.sums.moments import Chunk, Moments
from elmband.sums.sample import sorted_apart, taken

_LAST_KEY = 2**64 - 1

# Rows kept for each key, on average, where there are very many.
_TWINS = 32
# Rows that wait to be joined with the others are this part of them, at most.
_WAITING = 4

Keys = np.ndarray[Any, np.dtype[np.uint64]]


@dataclass(frozen=True, eq=False)
class KeptRows(Moments):
    """All rows whose key is among the `size` smallest distinct ones, with their keys.

    `complete` tells that no row has been dropped.
    """

    size: int
    keys: Keys
    rows: Chunk
    complete: bool = True

    def __add__(self, other: Self) -> Self:
        return self.joined((self, other))

    @classmethod
    def joined(cls, parts: "Sequence[KeptRows]") -> Self:
        """Add up, and copy every row once."""
        size = parts[0].size
        # What one of them has dropped the sum drops as well.
        bounds = [part.keys.max() for part in parts if not part.complete]
        names = sorted_apart(np.concatenate([part.keys for part in parts]))
        if len(names) > size:
            bounds.append(names[size - 1])
        last = min(bounds, default=np.uint64(_LAST_KEY))
        places = [np.flatnonzero(part.keys <= last) for part in parts]
        complete = not bounds and all(part.complete for part in parts)
        keys = np.concatenate([p.keys[i] for p, i in zip(parts, places, strict=True)])
        kept = cls(size, keys, _rows_joined(parts, places), complete)
        return kept if len(kept.keys) <= _TWINS * size else kept.thinned()

    def cut(self) -> Self:
        """Drop the rows whose keys are not among the smallest, and most of very many twins."""
        names = sorted_apart(self.keys)
        kept = self
        if len(names) > self.size:
            index = np.flatnonzero(self.keys <= names[self.size - 1])
            rows = taken(self.rows, index)
            kept = type(self)(self.size, self.keys[index], rows, complete=False)
        return kept if len(kept.keys) <= _TWINS * self.size else kept.thinned()

    def below(self, last: np.uint64) -> Self:
        """Return a copy of the rows whose keys are not larger than that.

        What was dropped before lies beyond it then, and counts no more.
        """
        index = np.flatnonzero(self.keys <= last)
        complete = self.complete or len(index) < len(self.keys)
        return type(self)(self.size, self.keys[index], taken(self.rows, index), complete)

    def thinned(self) -> Self:
        """Let a few rows with the same key stand for all of them.

        Memory would grow with the rows where they take few values. Rows are drawn at even steps of
        weight in the order of their targets, so that quantiles and variances stay right on
        average; targets are then moved to leave the mean of every key exactly as it was.
        """
        _, owner = np.unique(self.keys, return_inverse=True)
        owner = owner.reshape(-1)
        s, Y = to_numpy(double(_weights(self.rows))), to_numpy(double(self.rows.Y))
        weight = np.bincount(owner, s)
        # Down to half of what may be kept, so that it does not happen with every chunk.
        most = _TWINS * self.size // (2 * len(weight))
        order = np.lexsort((Y[:, 0], owner))
        steps = np.arange(most) + np.random.default_rng(len(owner)).random((len(weight), 1))
        before = np.concatenate([[0.0], np.cumsum(weight)[:-1]])
        points = before[:, None] + steps * (weight / most)[:, None]
        places = np.searchsorted(np.cumsum(s[order]), points.reshape(-1), side="right")
        index, times = np.unique(order[np.minimum(places, len(order) - 1)], return_counts=True)
        part = owner[index]
        share = weight[part] * times / np.bincount(part, times)[part]
        means = [np.bincount(owner, s * y) / weight for y in Y.T]
        own = [np.bincount(part, share * y) / weight for y in Y[index].T]
        moved = Y[index] + (np.stack(means, axis=1) - np.stack(own, axis=1))[part]
        rows = taken(self.rows, index)._replace(
            Y=place(moved, self.rows.Y), s=place(share, self.rows.Y)
        )
        return type(self)(self.size, self.keys[index], rows, self.complete)

    @property
    def n_distinct(self) -> int:
        """Number of distinct rows; where some were dropped, an estimate from the largest key."""
        names = np.unique(self.keys)
        if self.complete:
            return len(names)
        return int((self.size - 1) * 2.0**64 / float(names[-1]))


@dataclass(frozen=True, eq=False)
class GatheredRows(Moments):
    """Kept rows of many chunks, that are joined a few times only.

    Joined chunk by chunk, all of them would be copied for the few that every chunk adds.
    """

    parts: tuple[KeptRows, ...]

    def __add__(self, other: Self) -> Self:
        first, *more = self.parts
        last = np.uint64(_LAST_KEY) if first.complete else first.keys.max()
        found = type(self)((first, *more, *(part.below(last) for part in other.parts)))
        waiting = sum(len(part.keys) for part in found.parts[1:])
        share = max(first.size, len(first.keys)) // _WAITING
        return found if waiting <= share else type(self)((found.whole,))

    @property
    def whole(self) -> KeptRows:
        """All rows that are kept."""
        return KeptRows.joined(self.parts)


def _rows_joined(parts: Sequence[KeptRows], places: Sequence[Any]) -> Chunk:
    """Return the rows of all parts at these places; of NumPy's, every number is copied once."""
    chunks = [part.rows for part in parts]
    if any(rows.s is not None for rows in chunks):
        chunks = [rows._replace(s=_weights(rows)) for rows in chunks]
    if not isinstance(chunks[0].X, np.ndarray):
        xp = namespace(chunks[0].X)
        some = [taken(rows, index) for rows, index in zip(chunks, places, strict=True)]
        columns = zip(*some, strict=True)
        return Chunk(*(None if c[0] is None else xp.concat(list(c), axis=0) for c in columns))
    columns = zip(*chunks, strict=True)
    return Chunk(*(None if c[0] is None else _column_joined(c, places) for c in columns))


def _column_joined(parts: Sequence[Array], places: Sequence[Any]) -> Array:
    """Return the rows of a column's parts at these places, in NumPy."""
    joined = np.empty((sum(map(len, places)), *parts[0].shape[1:]), parts[0].dtype)
    start = 0
    for values, index in zip(parts, places, strict=True):
        stop = start + len(index)
        # Places are within bounds; without the mode NumPy would buffer the output.
        np.take(values, index, axis=0, out=joined[start:stop], mode="clip")
        start = stop
    return joined


def _weights(rows: Chunk) -> Array:
    return namespace(rows.Y).ones_like(rows.Y[:, 0]) if rows.s is None else rows.s
