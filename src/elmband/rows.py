"""Rows held in memory, handed out chunk by chunk."""

from collections.abc import Iterator
from dataclasses import dataclass

from elmband._arrays import Array
from elmband.moments import Chunk

# Large enough to keep matrix products efficient, small enough for float32 products summed in
# float64 to stay within 3e-5 of a float64 reference.
DEFAULT_CHUNK_SIZE = 8192


def chunk_slices(n_rows: int, chunk_size: int) -> Iterator[slice]:
    """Cut `n_rows` rows into slices of at most `chunk_size`."""
    for start in range(0, n_rows, chunk_size):
        yield slice(start, min(start + chunk_size, n_rows))


@dataclass(frozen=True, eq=False)
class ArrayRows:
    """Arrays as a re-iterable sequence of chunks, without a copy of the whole."""

    X: Array
    Y: Array
    s: Array | None = None
    chunk_size: int = DEFAULT_CHUNK_SIZE

    def __len__(self) -> int:
        return int(self.X.shape[0])

    def __iter__(self) -> Iterator[Chunk]:
        for part in chunk_slices(len(self), self.chunk_size):
            s = None if self.s is None else self.s[part]
            yield Chunk(self.X[part, :], self.Y[part, :], s)

    def whole(self) -> Chunk:
        """All rows as one chunk."""
        return Chunk(self.X, self.Y, self.s)
