"""The same tasks under any `concurrent.futures.Executor`: processes, threads, other clusters."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

from elmband.cluster.rows import Advance
from elmband.cluster.work import Counted, Partition, Work, added, evenly, partition_sum

# Tasks of a pass at most: each brings back one set of sums.
_MOST_TASKS = 256


@dataclass(frozen=True, eq=False)
class Carried:
    """A value that goes to another process with all that its functions have closed over."""

    value: Any

    def __reduce__(self) -> tuple[Any, ...]:
        import cloudpickle  # noqa: PLC0415 - comes with Dask

        return _unpacked, (cloudpickle.dumps(self.value),)


def _unpacked(packed: bytes) -> Carried:
    import cloudpickle  # noqa: PLC0415

    return Carried(cloudpickle.loads(packed))


@dataclass(frozen=True, eq=False)
class OnExecutor:
    """Runs tasks by submitting them, and adds up results in the order of the partitions."""

    executor: Executor

    def __call__(
        self, work: Work, partitions: Sequence[Partition], label: str, advance: Advance | None
    ) -> Counted:
        """Add up all partitions."""
        del label
        carried = Carried(work)
        futures = [
            self.executor.submit(_task, carried, Carried(group))
            for group in evenly(partitions, _MOST_TASKS)
        ]
        total = Counted(0, None)
        try:
            # Futures that have been added are let go of, and their sums with them.
            while futures:
                part = futures.pop(0).result()
                total = added([total, part])
                if advance is not None:
                    advance(part.n_rows)
        finally:
            for future in futures:
                future.cancel()
        return total


def _task(work: Carried, partitions: Carried) -> Counted:
    return partition_sum(work.value, partitions.value)
