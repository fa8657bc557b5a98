"""What is measured of a method on a set, each part in a process of its own.

Latency is that of a service: libraries have one thread each, callers are one or four. Throughput is
that of a batch: libraries take what threads they like. This module imports neither NumPy nor a
library: the environment of a worker must be set before.
"""

from dataclasses import dataclass

ONE_THREAD = {
    f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "VECLIB_MAXIMUM", "NUMEXPR")
}
SIZES = (1, 10, 100)
CALLERS = (1, 4)
BATCHES = (10_000, 1_000_000)
CALLS = {1: 1000, 10: 500, 100: 200}
"""Calls of each caller, by rows a call; slow methods make fewer."""
MOST_SECONDS = 10.0
"""What the calls of one row of the table may take; at least so many calls are made for p99:"""
LEAST_CALLS = 100


@dataclass(frozen=True)
class Part:
    """One part: its number in the store, its name, and the threads a library may have."""

    number: int
    name: str
    threads: int | None
    environment: dict[str, str]


PARTS = (
    Part(0, "latency", 1, ONE_THREAD),
    Part(1, "throughput", None, {}),
    Part(2, "widths", None, {}),
)
BY_NAME = {part.name: part for part in PARTS}
WIDTHS_OF = "elmband"
"""The method of which the fast variance is compared with the exact one."""
