"""Latencies as callers see them, and rows a second."""

from collections.abc import Callable
from threading import Barrier, Thread
from time import perf_counter
from typing import Any

import numpy as np
from benchmarks.answers.data import Floats

WARM_UP = 20
"""Calls before those that count: the first ones load code and start threads."""


def latencies(
    answer: Callable[[Floats], Any], rows: Floats, size: int, callers: int, calls: int
) -> dict[str, float]:
    """Return p50 and p99 in milliseconds, and requests a second of all callers together.

    Each of `callers` threads asks `calls` times for `size` rows, another piece every time: what is
    kept from the call before is of no use.
    """
    pieces = [rows[k : k + size] for k in range(0, len(rows) - size + 1, size)]
    for k in range(WARM_UP):
        answer(pieces[k % len(pieces)])
    seconds = np.zeros((callers, calls))
    ready, failed = Barrier(callers + 1), []

    def ask(caller: int) -> None:
        ready.wait()
        try:
            for k in range(calls):
                piece = pieces[(caller * calls + k) % len(pieces)]
                begun = perf_counter()
                answer(piece)
                seconds[caller, k] = perf_counter() - begun
        except Exception as error:  # noqa: BLE001 - told by the thread that waits
            failed.append(error)

    threads = [Thread(target=ask, args=(caller,)) for caller in range(callers)]
    for thread in threads:
        thread.start()
    ready.wait()
    begun = perf_counter()
    for thread in threads:
        thread.join()
    total = perf_counter() - begun
    if failed:
        raise failed[0]
    p50, p99 = np.quantile(seconds, [0.5, 0.99]) * 1e3
    return {"p50": float(p50), "p99": float(p99), "per_second": callers * calls / total}


def same_from_threads(answer: Callable[[Floats], Any], rows: Floats, callers: int) -> bool:
    """Tell whether callers at once get what one gets."""
    alone = answer(rows)
    found: list[Any] = [None] * callers

    def ask(k: int) -> None:
        for _ in range(5):
            found[k] = answer(rows)

    threads = [Thread(target=ask, args=(k,)) for k in range(callers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return all(one is not None and all(map(np.array_equal, one, alone)) for one in found)


def throughput(answer: Callable[[Floats], Any], rows: Floats, repeats: int) -> float:
    """Return the seconds that all rows take in one call, the best of some."""
    answer(rows[:1000])
    best = np.inf
    for _ in range(repeats):
        begun = perf_counter()
        answer(rows)
        best = min(best, perf_counter() - begun)
    return float(best)
