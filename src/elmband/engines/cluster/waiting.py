"""A warning for whoever waits on a cluster that is stuck: no workers, or all of them paused."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

# Seconds between two looks at the workers; what is the same at two of them is worth a warning.
_SECONDS = 10.0


@contextmanager
def watched(client: Any) -> Iterator[None]:
    """Warn, once, if meanwhile there is no worker at all, or all of them have paused."""
    done = Event()
    Thread(target=_watch, args=(client, done), daemon=True).start()
    try:
        yield
    finally:
        # Not joined: an interruption must not wait for a scheduler that does not answer.
        done.set()


def _watch(client: Any, done: Event) -> None:
    before = None
    while not done.wait(_SECONDS):
        now = _trouble(client)
        if now is not None and now == before and not done.is_set():
            warnings.warn(now, UserWarning, stacklevel=1)
            return
        before = now


def _trouble(client: Any) -> str | None:
    """Say why nothing goes on; None where something may."""
    try:
        workers = client.scheduler_info()["workers"].values()
    except Exception:  # noqa: BLE001 - a scheduler that is lost is told of by whoever waits for it
        return None
    if not workers:
        return (
            "The cluster has no workers: all waits until one comes. Workers that cannot import "
            "elmband leave with their first task; their logs tell."
        )
    if all(worker.get("status") == "paused" for worker in workers):
        return (
            "All workers have paused, since they hold nearly as much memory as they may: all "
            "waits until they are free again. If they stay so, interrupt it and give each more "
            "(memory_limit=; 500 MB is little)."
        )
    return None
