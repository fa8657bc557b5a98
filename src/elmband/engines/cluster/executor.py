"""The same tasks under any `concurrent.futures.Executor`: processes, threads, other clusters."""

from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from elmband.engines.cluster.graph import OnDask
from elmband.engines.cluster.rows import Advance, Runner
from elmband.engines.cluster.work import Counted, Partition, Work, added, evenly, partition_sum

# Tasks of a pass at most: each brings back one set of sums.
_MOST_TASKS = 256


@dataclass(frozen=True, eq=False)
class Carried:
    """A value pickled by cloudpickle: its functions may be closures."""

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
        with _errors_as_sentences():
            return self._added(Carried(work), partitions, advance)

    def _added(
        self, work: Carried, partitions: Sequence[Partition], advance: Advance | None
    ) -> Counted:
        futures = [
            self.executor.submit(_task, work, Carried(group))
            for group in evenly(partitions, _MOST_TASKS)
        ]
        total = Counted(0, None)
        try:
            # Popped one by one, so that sums that have been added can be freed.
            while futures:
                part = futures.pop(0).result()
                total = added([total, part])
                if advance is not None:
                    advance(part.n_rows)
        finally:
            for future in futures:
                future.cancel()
        return total


@contextmanager
def _errors_as_sentences() -> Iterator[None]:
    """Turn errors of workers that died, or cannot import elmband, into sentences."""
    try:
        yield
    except BrokenExecutor as error:
        raise RuntimeError(
            "A worker of the executor died, most often for want of memory, or since it could not "
            "import elmband; make a new executor, with fewer workers or more memory for each."
        ) from error
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "elmband":
            raise
        raise ValueError(
            "A worker of the executor cannot import elmband; install the same version there."
        ) from error


def _task(work: Carried, partitions: Carried) -> Counted:
    return partition_sum(work.value, partitions.value)


def runner_of(client: Any) -> Runner:
    """Return where to run what a user names as `client`: on Dask, or under an executor."""
    if isinstance(client, Executor):
        return OnExecutor(client)
    if not all(hasattr(client, name) for name in ("get", "nthreads")):
        raise ValueError(
            f"client must be a distributed.Client or a concurrent.futures.Executor; got "
            f"{type(client).__name__}."
        )
    return OnDask(client)
