"""What adaptors get and return."""

from typing import Any, NamedTuple, Protocol

from benchmarks.abstain.data import Split
from benchmarks.scale.watch import Watch
from numpy.typing import NDArray

Array = NDArray[Any]


class Answers(NamedTuple):
    """Labels of the test rows and how certain each is, larger for more certain ones, both (n,)."""

    label: Array
    confidence: Array


class Answerer(Protocol):
    """The signature all adaptors share."""

    def __call__(self, split: Split, seed: int, watch: Watch) -> Answers:
        """Fit on the training rows, answer the test rows, and time both."""
        ...
