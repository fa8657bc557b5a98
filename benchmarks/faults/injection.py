"""Faults one after the other, each with a place in the results, so that none is injected twice."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from benchmarks.faults.trial import Judged

_SEEDS = 1_000_000
"""Numbers of injections with one seed; those with the next follow."""


@dataclass(frozen=True)
class Injection:
    """A fault of a `kind` in a `case`, with a number; to `run` it tells what became of it."""

    kind: str
    case: str
    number: int
    run: Callable[[], Judged]

    @property
    def place(self) -> tuple[str, str]:
        """The names of its kind and case, as they can stand in the name of a file."""
        return self.kind, re.sub(r"[^\w.]+", "-", self.case)


@dataclass(frozen=True)
class Plan:
    """How many injections into every case, and the seed of what is left to chance."""

    times: int
    seed: int = 0

    def numbers(self) -> Iterator[int]:
        """Yield a number for every injection into a case."""
        yield from (self.seed * _SEEDS + k for k in range(self.times))

    def rng(self, kind: str, case: str, number: int) -> np.random.Generator:
        """Return random numbers that belong to one injection."""
        name = int.from_bytes(f"{kind}/{case}".encode()[:48].ljust(48), "big")
        return np.random.default_rng([name, number])

    def chosen(self, n: int) -> list[int]:
        """Choose among the numbers 1 to n: all if that is no more than `times`, else some.

        Half of them are the last ones: files take their names at the end.
        """
        if n <= self.times:
            return list(range(1, n + 1))
        ends = range(n - self.times // 2 + 1, n + 1)
        rng = np.random.default_rng([self.seed, n])
        others = rng.permutation(n - len(ends))[: self.times - len(ends)] + 1
        return sorted([*ends, *others.tolist()])
