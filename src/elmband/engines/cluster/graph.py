"""One Dask graph for every pass: a task for each group of partitions, then a tree of sums.

A task is opaque to Dask and holds all that its partitions alone need, reading included, so that
rows are made and used up in one place; only what partitions share stays a task of its own. Groups
keep the number of tasks, and with it the bytes that travel, the same however many rows there are.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from joblib import cpu_count

from elmband.engines.cluster.rows import Advance
from elmband.engines.cluster.versions import check_workers
from elmband.engines.cluster.waiting import watched
from elmband.engines.cluster.work import Counted, Partition, Work, added, evenly, partition_sum

# Most tasks for each thread, and the least number for a small cluster.
_TASKS_PER_THREAD = 16
_LEAST_TASKS = 32
# Sums that one task of the tree adds up.
_FAN_IN = 8
# A disk or a network that failed once may work the next time.
_RETRIES = 2


class Group:
    """Neighbouring partitions for one task, and the keys of what they share with others.

    Dask looks into tuples and dataclasses for keys; it takes this for a plain value.
    """

    def __init__(self, partitions: Sequence[Partition]) -> None:
        self.partitions = tuple(partitions)
        needs = (getattr(partition, "needs", ()) for partition in self.partitions)
        self.needs = tuple(dict.fromkeys(key for keys in needs for key in keys))

    def __dask_tokenize__(self) -> str:
        """Return a constant: keys are unique, and Dask need not hash all of it."""
        return "group"


def group_sum(work: Work, group: Group, values: list[Any], topic: str | None = None) -> Counted:
    """Add up the partitions of a group; `values` are what they share with others.

    Who listens to the `topic` is told how many rows are done.
    """
    known = dict(zip(group.needs, values, strict=True))
    partitions = group.partitions
    if known:
        partitions = tuple(partition.with_shared(known) for partition in partitions)  # type: ignore[attr-defined]
    found = partition_sum(work, partitions)
    if topic is not None:
        from distributed import get_worker  # noqa: PLC0415 - on a worker it is there

        get_worker().log_event(topic, found.n_rows)
    return found


@dataclass(frozen=True, eq=False)
class OnDask:
    """Runs passes on a `distributed` client, or on the scheduler that Dask is set to.

    `shared` are tasks that several partitions need.
    """

    client: Any = None
    shared: Mapping[Any, Any] = field(default_factory=dict)

    def __call__(
        self, work: Work, partitions: Sequence[Partition], label: str, advance: Advance | None
    ) -> Counted:
        """Add up all partitions in their order."""
        client = self._client()
        topic = None if advance is None or client is None else f"elmband-{uuid4().hex}"
        with _errors_as_sentences():
            if client is not None:
                check_workers(client)
            graph, root = pass_graph(work, partitions, label, _most_tasks(client), topic)
            with _listening(client, topic, advance):
                return _computed({**self.shared, **graph}, root, client)

    def _client(self) -> Any:
        """Return the client that was given or is current; None where there is no cluster."""
        if self.client is not None:
            return self.client
        try:
            from distributed import default_client  # noqa: PLC0415 - an optional library

            return default_client()
        except (ImportError, ValueError):
            return None


def pass_graph(
    work: Work,
    partitions: Sequence[Partition],
    label: str,
    most_tasks: int,
    topic: str | None = None,
) -> tuple[dict[Any, Any], Any]:
    """Return a graph and the key of its result; the work is in it once."""
    name = f"elmband-{(label or 'sums').replace(' ', '-')}-{uuid4().hex}"
    work_key = f"elmband-work-{uuid4().hex}"
    graph: dict[Any, Any] = {work_key: work}
    keys: list[Any] = []
    for group in map(Group, evenly(partitions, most_tasks)):
        keys.append((name, len(keys)))
        graph[keys[-1]] = (group_sum, work_key, group, list(group.needs), topic)
    level = 0
    while len(keys) > 1:
        level += 1
        below = [keys[k : k + _FAN_IN] for k in range(0, len(keys), _FAN_IN)]
        keys = [(f"elmband-add-{name}", level, k) for k in range(len(below))]
        graph.update({key: (added, parts) for key, parts in zip(keys, below, strict=True)})
    return graph, keys[0]


@contextmanager
def _listening(client: Any, topic: str | None, advance: Advance | None) -> Iterator[None]:
    """Tell `advance` of rows that workers report as done."""
    if topic is None or advance is None:
        yield
        return
    client.subscribe_topic(topic, lambda event: advance(int(event[1])))
    try:
        yield
    finally:
        client.unsubscribe_topic(topic)


def _most_tasks(client: Any) -> int:
    threads: int = cpu_count() if client is None else sum(client.nthreads().values())
    return max(_TASKS_PER_THREAD * threads, _LEAST_TASKS)


def _computed(graph: dict[Any, Any], root: Any, client: Any) -> Counted:
    """Compute one key of a graph; where that is interrupted, the cluster is told to stop."""
    if client is None:
        import dask  # noqa: PLC0415 - an optional library

        get = dask.base.get_scheduler() or dask.threaded.get
        found: Counted = get(graph, root)
        return found
    with watched(client):
        return client.get(graph, root, retries=_RETRIES)  # type: ignore[no-any-return]


@contextmanager
def _errors_as_sentences() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        sentence = _meaning(error)
        if sentence is None:
            raise
        raise RuntimeError(sentence) from error


def _meaning(error: Exception) -> str | None:
    """Return what an error of Dask means, in a sentence; None where it needs none."""
    if type(error).__name__ == "KilledWorker":
        return (
            "Several workers died at the same task, most often for want of memory: give them more, "
            "or cut the data into smaller partitions."
        )
    lost = type(error).__name__ == "CommClosedError"
    if lost or "scheduler-connection-lost" in str(error):
        return (
            "The scheduler of the cluster is gone, and what was done with it; start again, with "
            "checkpoint= a fit on a scan goes on from where it was."
        )
    return None
