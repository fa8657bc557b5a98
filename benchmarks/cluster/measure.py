"""Seconds, bytes and memory of fits.

Processes are started and libraries loaded before anything is measured. All ways are measured in
every round, one after the other, so that a machine that slows down does so for all of them.
"""

import os
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from importlib import metadata
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import psutil
from benchmarks.cluster.data import model
from benchmarks.cluster.wire import count_bytes, peak_memory, written
from distributed import Client, LocalCluster, get_task_stream

from elmband import scan
from elmband.engines import engine

CORES = (1, 2)


def machine() -> dict[str, Any]:
    """Return what was measured on what."""
    return {
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in ("elmband", "numpy", "dask", "distributed")},
    }


def times(path: Path, short: Path, repeats: int) -> dict[str, list[dict[str, float]]]:
    """Return seconds of fits, here and by workers, for every number of cores."""
    found: dict[str, list[dict[str, float]]] = {}
    for _ in range(repeats):
        for cores in CORES:
            with threads(cores):
                fit(short)
                found.setdefault(f"local_{cores}", []).append(_took(path))
            with workers(cores) as client:
                fit(short, client)
                found.setdefault(f"workers_{cores}", []).append(_took(path, client))
    return found


def _took(path: Path, client: Client | None = None) -> dict[str, float]:
    """Return seconds of wall time, and those that all processes together were computing."""

    def used() -> float:
        return float(sum([process_time()] if client is None else everywhere(client, process_time)))

    before = used()
    seconds = fit(path, client)
    return {"seconds": seconds, "cpu": used() - before}


def growth(files: Mapping[int, Path]) -> list[dict[str, Any]]:
    """Return bytes that travel and peak memory of two workers, for every number of rows.

    Workers are new each time, since the peak of a process never falls.
    """
    return [{"rows": n, **_moved(path)} for n, path in files.items()]


def _moved(path: Path) -> dict[str, Any]:
    with workers(max(CORES)) as client:
        everywhere(client, count_bytes)
        idle = max(client.run(peak_memory).values())
        device, sent = loopback(), sum(everywhere(client, written))
        with get_task_stream(client) as tasks:
            seconds = fit(path, client)
        sent, device = sum(everywhere(client, written)) - sent, loopback() - device
        peak = max(client.run(peak_memory).values())
    sums = [task for task in tasks.data if not str(task["key"]).startswith("elmband-work")]
    return {
        "seconds": seconds,
        "bytes": sent,
        "loopback_bytes": device,
        "tasks": sum("elmband-add" not in str(task["key"]) for task in sums),
        "peak_mb": peak / 1e6,
        "idle_mb": idle / 1e6,
    }


def everywhere(client: Client, function: Callable[[], Any]) -> list[Any]:
    """Run a function in all processes: the workers, and this one, which has the scheduler too."""
    return [function(), *client.run(function).values()]


def loopback() -> int:
    """Return the bytes that all processes of this machine have sent each other so far."""
    devices = psutil.net_io_counters(pernic=True)
    return sum(devices[name].bytes_sent for name in ("lo", "lo0") if name in devices)


@contextmanager
def workers(count: int) -> Iterator[Client]:
    """Start processes with one thread each."""
    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Let the engine of this process have so many threads."""
    alone = engine.alone() if count == 1 else nullcontext()
    with patch.object(engine, "cpu_count", lambda: count), alone:
        yield


def fit(path: Path, client: Client | None = None) -> float:
    """Return the seconds of a fit."""
    begun = perf_counter()
    model().fit(scan(path, target=-1), client=client)
    return perf_counter() - begun
