"""What becomes of a row: its label, whether that is answered, how certain it is, and why."""

from typing import Any, NamedTuple, Self

import numpy as np

from elmband.confidence import Answer

Floats = np.ndarray[Any, np.dtype[np.float64]]

REASONS = ("accepted", "between classes", "noisy here", "unlike training rows")
"""Why a row is answered or not; a number in a file is the place in this list."""

# The mean of a row is less certain than that of nearly all training rows.
_UNLIKE = 0.99


class Triage(NamedTuple):
    """Answers and rows for a person, each (n,).

    Attributes
    ----------
    label : array
        The label of every row, answered or not.
    accepted : array of bool
        Whether the label can be taken.
    confidence : array
        How certain it is, larger for more certain rows.
    reason : array of str
        "accepted", or why not: the row lies "between classes", targets are "noisy here", or it is
        "unlike training rows", of which the model knows too little there.
    """

    label: Any
    accepted: Any
    confidence: Any
    reason: Any


class Usual(NamedTuple):
    """What rows that are answered are like: logarithms of margin and noise, and the deviation."""

    margin: float
    noise: float
    deviation: float

    @classmethod
    def of(cls, answer: Answer, accepted: Any) -> Self:
        """Learn it from training rows left out; all of them stand in where none is accepted."""
        some = accepted if accepted.any() else np.ones_like(accepted)
        return cls(
            float(np.median(_log(answer.margin[some]))),
            float(np.median(_log(answer.noise[some]))),
            float(np.quantile(answer.mean_model, _UNLIKE)),
        )

    def reasons(self, answer: Answer, accepted: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the place among `REASONS` for every row, (n,)."""
        short = self.margin - _log(answer.margin)
        loud = (_log(answer.noise) - self.noise) / 2
        reason = np.where(loud > short, 2, 1)
        reason = np.where(answer.mean_model > self.deviation, 3, reason)
        return np.where(accepted, 0, reason)


def _log(values: Floats) -> Floats:
    return np.asarray(np.log(np.maximum(values, 1e-6)))
