"""Rows as chunks that can be had again and again: arrays in memory, or whatever is read anew."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol, Self

from elmband.ground.arrays import Array, cast, double
from elmband.sums.moments import Chunk
from elmband.sums.scaling import Scaling

# Large enough to keep matrix products efficient, small enough for float32 products summed in
# float64 to stay within 3e-5 of a float64 reference.
DEFAULT_CHUNK_SIZE = 4096


def chunk_slices(n_rows: int, chunk_size: int) -> Iterator[slice]:
    """Cut `n_rows` rows into slices of nearly equal length, at most `chunk_size`.

    Where one slice is not enough there is a multiple of four, to keep as many threads busy.
    """
    count = -(-n_rows // chunk_size)
    if count > 1:
        count = min(-(-count // 4) * 4, n_rows)
    for k in range(count):
        yield slice(n_rows * k // count, n_rows * (k + 1) // count)


@dataclass(frozen=True, eq=False)
class RowScaling:
    """Standardises targets, and divides weights by `weight`, their mean."""

    targets: Scaling
    weight: float = 1.0

    def __call__(self, chunk: Chunk, dtype: Any) -> Chunk:
        """Return the chunk with targets and weights in `dtype`."""
        s = None if chunk.s is None else cast(double(chunk.s) / self.weight, dtype)
        return chunk._replace(Y=cast(self.targets(chunk.Y), dtype), s=s)


class Source(Protocol):
    """What rows can be read from, over and over."""

    @property
    def n_rows(self) -> int | None:
        """Number of rows, once a pass has counted them."""
        ...

    def counted(self, n_rows: int) -> None:
        """Take over the number of rows from a pass that need not be repeated."""
        ...

    def chunks(
        self, chunk_size: int | None = None, start: int = 0, *, lent: bool = False
    ) -> Iterator[Chunk]:
        """Read all rows once, but for the first `start` chunks.

        Chunks that are `lent` are valid until the next one, and their X is not checked.
        """
        ...


class Rows(Protocol):
    """Rows to train on."""

    @property
    def like(self) -> Array:
        """An empty array (0, d) of their library and device."""
        ...

    @property
    def dtype(self) -> Any:
        """The dtype of targets and of products."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether the rows can be had as a whole."""
        ...

    @property
    def chunk_size(self) -> int:
        """Rows of a chunk at most."""
        ...

    def __iter__(self) -> Iterator[Chunk]: ...

    def __len__(self) -> int: ...

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Hand out the chunks, but for the first `start` of them."""
        ...

    def scaled(self, scaling: RowScaling, dtype: Any) -> "Rows":
        """Return the same rows with scaled targets and weights in `dtype`."""
        ...

    def whole(self) -> Chunk:
        """Return all rows as one chunk."""
        ...


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Arrays as a re-iterable sequence of chunks, without a copy of the whole."""

    X: Array
    Y: Array
    s: Array | None = None
    chunk_size: int = DEFAULT_CHUNK_SIZE

    @classmethod
    def of(cls, rows: Chunk, chunk_size: int = DEFAULT_CHUNK_SIZE) -> Self:
        """Take the rows of one chunk."""
        return cls(rows.X, rows.Y, rows.s, chunk_size)

    @property
    def like(self) -> Array:
        """An empty array of the library of X."""
        return self.X[:0, :]

    @property
    def dtype(self) -> Any:
        """The dtype of Y."""
        return self.Y.dtype

    @property
    def in_memory(self) -> bool:
        """Arrays are."""
        return True

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks()

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Hand out the chunks, but for the first `start` of them."""
        for part in list(chunk_slices(len(self), self.chunk_size))[start:]:
            s = None if self.s is None else self.s[part]
            yield Chunk(self.X[part, :], self.Y[part, :], s)

    def scaled(self, scaling: RowScaling, dtype: Any) -> Self:
        """Return the same rows with scaled targets and weights in `dtype`."""
        return self.of(scaling(self.whole(), dtype), self.chunk_size)

    def whole(self) -> Chunk:
        """All rows as one chunk."""
        return Chunk(self.X, self.Y, self.s)


@dataclass(frozen=True, eq=False)
class StreamRows:
    """Rows that are read anew for every pass.

    Chunks are made ready by `prepare`, then targets and weights by `scaling` where it is known.
    Those that are `lent` are for who moves them elsewhere, one after the other.
    """

    source: Source
    like: Array
    dtype: Any
    prepare: Callable[[Chunk], Chunk]
    chunk_size: int
    scaling: RowScaling | None = None
    lent: bool = False

    @property
    def in_memory(self) -> bool:
        """These are not."""
        return False

    def __len__(self) -> int:
        n = self.source.n_rows
        if n is None:
            raise TypeError("Rows are counted once a pass over them is complete.")
        return n

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks()

    def chunks(self, start: int = 0) -> Iterator[Chunk]:
        """Read the chunks, but for the first `start` of them."""
        for chunk in self.source.chunks(self.chunk_size, start, lent=self.lent):
            ready = self.prepare(chunk)
            yield ready if self.scaling is None else self.scaling(ready, self.dtype)

    def counted(self, n_rows: int) -> None:
        """Take over the number of rows from a pass that need not be repeated."""
        self.source.counted(n_rows)

    def scaled(self, scaling: RowScaling, dtype: Any) -> Self:
        """Return the same rows with scaled targets and weights in `dtype`."""
        return replace(self, scaling=scaling, dtype=dtype)

    def whole(self) -> Chunk:
        """Refuse: there may be more rows than memory."""
        raise ValueError(
            f"{len(self)} rows that are read in chunks cannot be had as a whole, which more "
            "neurons than rows would need; take fewer neurons."
        )
