"""Which runner belongs to what a user names as `client`."""

from concurrent.futures import Executor
from typing import Any

from elmband.engines.cluster.executor import OnExecutor
from elmband.engines.cluster.graph import OnDask
from elmband.engines.cluster.rows import Runner


def runner_of(client: Any) -> Runner:
    """Return where to run: on a `distributed` client, or under an executor."""
    if isinstance(client, Executor):
        return OnExecutor(client)
    if not all(hasattr(client, name) for name in ("get", "nthreads")):
        raise ValueError(
            f"client must be a distributed.Client or a concurrent.futures.Executor; got "
            f"{type(client).__name__}."
        )
    return OnDask(client)
