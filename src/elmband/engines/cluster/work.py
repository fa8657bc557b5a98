"""The task of a worker: the sums of a chunk map over the rows of a few partitions.

Nothing here needs Dask. A task is one call of :func:`partition_sum`, wherever that runs; its
result is as small as the sums are, however many rows there were.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, is_dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from elmband.engines import engine
from elmband.engines.cluster.allocator import keep_memory
from elmband.engines.cluster.versions import Versions, check_task, own_versions
from elmband.sums.moments import Chunk
from elmband.sums.rows import RowScaling


class Partition(Protocol):
    """Rows that a worker can read by itself, again and again."""

    @property
    def label(self) -> str:
        """Name of the partition in error sentences."""
        ...

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Read all rows once, about `size` at a time; errors name the partition."""
        ...


@dataclass(frozen=True, eq=False)
class Counted:
    """The number of rows that were read, and their sums; None where there was no row."""

    n_rows: int
    sums: Any

    def __sizeof__(self) -> int:
        """Return the bytes of the sums, so that schedulers do not move them without need."""
        return 64 + _nbytes(self.sums)


def _nbytes(value: Any) -> int:
    """Return the bytes of all arrays within a value."""
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, tuple | list):
        return sum(map(_nbytes, value))
    return sum(map(_nbytes, vars(value).values())) if is_dataclass(value) else 0


@dataclass(frozen=True, eq=False)
class Work:
    """What one pass does with any rows; it is sent to workers once, for all tasks.

    Chunks are made ready by `prepare`, then targets and weights by `scaling` where it is known,
    and handed to `chunk_map`. The `versions` are those of whoever made it.
    """

    chunk_map: Callable[[Chunk], Any]
    prepare: Callable[[Chunk], Chunk]
    scaling: RowScaling | None
    dtype: Any
    chunk_size: int
    versions: Versions = field(default_factory=own_versions, kw_only=True)

    def __dask_tokenize__(self) -> str:
        """Return a constant: keys are unique, and Dask need not hash the matrices."""
        return "work"

    def __call__(self, chunk: Chunk) -> Any:
        """Return what a chunk adds to the sums."""
        return self.chunk_map(self.ready(chunk))

    def parts(self, partition: Partition) -> Iterator[tuple[int, Any]]:
        """Yield how many rows each chunk of a partition has, and what it adds."""
        for chunk in partition.chunks(self.chunk_size):
            yield int(chunk.X.shape[0]), self(chunk)

    def ready(self, chunk: Chunk) -> Chunk:
        """Return raw rows prepared and scaled for learning."""
        ready = self.prepare(chunk)
        return ready if self.scaling is None else self.scaling(ready, self.dtype)


def partition_sum(work: Work, partitions: Iterable[Partition]) -> Counted:
    """Add up all rows of some partitions, one chunk after the other, in a single thread.

    Memory holds one chunk at a time, or what a partition itself needs to make one.
    """
    n_rows, sums = 0, None
    # Work of an older elmband has no versions.
    check_task(getattr(work, "versions", None))
    keep_memory(work)
    with engine.alone():
        for partition in partitions:
            for count, more in work.parts(partition):
                n_rows += count
                sums = more if sums is None else engine.plus(sums, more)
    return Counted(n_rows, sums)


def evenly(partitions: Sequence[Partition], most: int) -> list[tuple[Partition, ...]]:
    """Cut partitions into `most` groups of neighbours, or fewer, as equal as can be.

    Unequal ones would let some workers wait for others at the end of every pass.
    """
    n = len(partitions)
    count = max(min(most, n), 1)
    bounds = (n * k // count for k in range(count + 1))
    return [tuple(partitions[start:stop]) for start, stop in pairwise(bounds)]


def added(parts: Iterable[Counted]) -> Counted:
    """Add up results in their order; none of them is changed, for it may be needed again."""
    n_rows, sums, own = 0, None, False
    for part in parts:
        n_rows += part.n_rows
        if part.sums is None:
            continue
        if sums is None:
            sums = part.sums
        elif own:
            sums = engine.plus(sums, part.sums)
        else:
            sums, own = sums + part.sums, True
    return Counted(n_rows, sums)
