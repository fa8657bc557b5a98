"""Resumable passes on a cluster: partitions are summed in rounds, and sums are saved in between.

Rounds grow until one takes as long as the time between two saves, so that workers seldom wait for
each other at the end of a round.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

from elmband.engines.checkpoint import Begun, Pass
from elmband.engines.cluster.work import Counted, Partition, added
from elmband.sums.moments import Moments

# Partitions of the first round, and seconds that a round may take.
_FIRST = 64
_PATIENCE = 10.0
# Rounds grow by this much at most: the first may have left most workers idle.
_GROWTH = 8


@dataclass(frozen=True, eq=False)
class FirstPartitions(Moments):
    """Number of rows and sums of the first partitions, out of `of` partitions."""

    of: int
    n_rows: int
    sums: Any


def summed_in_rounds(
    run: Callable[[Sequence[Partition]], Counted],
    partitions: Sequence[Partition],
    kept: Pass,
) -> Counted:
    """Add up all partitions from where a checkpoint left off, and save sums now and then.

    The caller keeps the last sums, those of all.
    """
    done, total = _left_off(kept, len(partitions))
    size = _FIRST
    while done < len(partitions):
        began = monotonic()
        part = run(partitions[done : done + size])
        total, done = added([total, part]), min(done + size, len(partitions))
        if kept.due and done < len(partitions) and total.sums is not None:
            first = FirstPartitions(len(partitions), total.n_rows, total.sums)
            kept.save(Begun(done, first, done=False))
        faster = _PATIENCE / max(monotonic() - began, 1e-3)
        size = max(int(size * min(faster, _GROWTH)), _FIRST)
    return total


def _left_off(kept: Pass, count: int) -> tuple[int, Counted]:
    """Return how many partitions are done, and their sums."""
    begun = kept.load()
    if begun is None:
        return 0, Counted(0, None)
    first = begun.sums
    if not isinstance(first, FirstPartitions) or first.of != count or begun.chunks > count:
        raise ValueError(
            "The checkpoint was begun with other partitions; delete the folder to begin anew."
        )
    return begun.chunks, Counted(first.n_rows, first.sums)
