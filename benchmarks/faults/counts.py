"""What became of injected faults, counted."""

from collections.abc import Iterable
from dataclasses import dataclass, fields

OUTCOMES = ("right", "refused", "wrong", "lost", "hung", "crashed")
"""What can become of a fault; the first two are promised, the others are defects."""


@dataclass(frozen=True)
class Counts:
    """How many faults ended in which way; two of these add up.

    A fault is *right* where the answer is the one without it, or old files stand as they were and
    the next run is right; *refused* where the command said so in one sentence and left everything
    as it was. It is *wrong* where an answer differs or something is left behind, *lost* where a
    file is neither the old nor the new one, *hung* where nothing ends, and *crashed* where the
    process died by itself or showed a traceback.

    Examples
    --------
    >>> both = Counts.of("refused") + Counts.of("right")
    >>> both.injected, both.refused, both.is_clean
    (2, 1, True)
    """

    right: int = 0
    refused: int = 0
    wrong: int = 0
    lost: int = 0
    hung: int = 0
    crashed: int = 0

    @classmethod
    def of(cls, outcome: str) -> "Counts":
        """Return the count of one fault."""
        return cls(**{outcome: 1})

    @classmethod
    def total(cls, parts: Iterable["Counts"]) -> "Counts":
        """Return the sum of several."""
        return sum(parts, cls())

    @property
    def injected(self) -> int:
        """All faults."""
        return sum(getattr(self, field.name) for field in fields(self))

    @property
    def is_clean(self) -> bool:
        """Whether every fault ended as promised."""
        return self.injected == self.right + self.refused

    def __add__(self, other: "Counts") -> "Counts":
        names = [field.name for field in fields(self)]
        return Counts(**{name: getattr(self, name) + getattr(other, name) for name in names})
