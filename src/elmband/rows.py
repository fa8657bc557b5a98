"""Rows held in memory, handed out chunk by chunk."""

from collections.abc import Iterator
from dataclasses import dataclass

from elmband._arrays import Array
from elmband.moments import Chunk

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
