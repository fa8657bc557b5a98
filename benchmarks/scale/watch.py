"""Seconds and peak memory of the phases of one run."""

import resource
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class SkippedError(RuntimeError):
    """What was asked for does not exist here; not a failure."""


class Watch:
    """Note how long each phase takes, wall and CPU time, and the peak memory at its end."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.cpu_seconds: dict[str, float] = {}
        self.peak_mb: dict[str, float] = {}

    @contextmanager
    def __call__(self, phase: str) -> Iterator[None]:
        """Measure what runs inside. A phase may contain others, or come in several pieces."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self._add(self.seconds, phase, time.perf_counter() - wall)
        self._add(self.cpu_seconds, phase, time.process_time() - cpu)
        self.peak_mb[phase] = peak_mb()

    @staticmethod
    def _add(times: dict[str, float], phase: str, seconds: float) -> None:
        times[phase] = times.get(phase, 0.0) + seconds


def resident_mb() -> float:
    """Return the resident size of this process now, or its peak where the system does not tell."""
    status = Path("/proc/self/statm")
    if not status.exists():
        return peak_mb()
    return int(status.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e6


def peak_mb() -> float:
    """Return the largest resident size of this process so far; macOS counts bytes, Linux KB."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
