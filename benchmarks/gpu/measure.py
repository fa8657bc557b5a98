"""Times on a GPU: warm, with the work finished, the median of several."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch


class Timed(NamedTuple):
    """Seconds of the median run, by the clock and between events on the GPU."""

    wall: float
    gpu: float


def timed(function: Callable[[], Any], repeats: int = 7) -> Timed:
    """Run once to warm up, then `repeats` times."""
    function()
    torch.cuda.synchronize()
    runs = []
    for _ in range(repeats):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start = time.perf_counter()
        begin.record()
        function()
        end.record()
        torch.cuda.synchronize()
        runs.append((time.perf_counter() - start, begin.elapsed_time(end) / 1000))
    return Timed(*(float(np.median(column)) for column in zip(*runs, strict=True)))


def matrix_rate(size: int = 8192) -> float:
    """Return float32 operations per second in the product of two large square matrices."""
    A = torch.randn((size, size), device="cuda")
    torch.backends.cuda.matmul.allow_tf32 = False
    return 2 * size**3 / timed(lambda: A @ A).gpu


def copy_rate(*, pinned: bool, nbytes: int = 2**30) -> float:
    """Return bytes per second from the memory of the host to that of the GPU."""
    host = torch.empty(nbytes, dtype=torch.uint8, pin_memory=pinned)
    there = torch.empty(nbytes, dtype=torch.uint8, device="cuda")
    return nbytes / timed(lambda: there.copy_(host, non_blocking=True)).wall


def peak(function: Callable[[], Any]) -> int:
    """Return the most bytes on the GPU while `function` ran."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    function()
    return int(torch.cuda.max_memory_allocated())
