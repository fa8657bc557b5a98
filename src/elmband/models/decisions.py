"""What becomes of a row: its label, whether that is answered, how certain it is, and why."""

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from elmband.models.thresholds import ScoredRows, Thresholds
from elmband.uncertainty.confidence import Answer, Confidence

Floats = np.ndarray[Any, np.dtype[np.float64]]

REASONS = np.array(
    ["accepted", "between classes", "noisy here", "unlike training rows"], dtype=object
)
"""Why a row is answered or not; a number in a file is the place in this list.

Rows share these very strings: as text of their own each would take 80 bytes.
"""

# The models know less of a row than of nearly all training rows.
_UNLIKE = 0.99
# A margin below this share of what the noise around it would leave has more to it than noise.
_SHARP = 2 / 3


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


class NoveltyLimit(NamedTuple):
    """What training rows are like: nearly all of them stay below this variance of the models."""

    deviation: float

    @classmethod
    def name_in_files(cls) -> str:
        """Return the name that the first version gave it."""
        return "Usual"

    @classmethod
    def of(cls, answer: Answer, s: Floats | None) -> Self:
        """Learn it from training rows left out, with weights s."""
        deviation = np.quantile(answer.model, _UNLIKE, weights=s, method="inverted_cdf")
        return cls(float(deviation))

    def reasons(self, answer: Answer, accepted: Any) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Return the place among `REASONS` for every row, (n,).

        Where a share of the labels ±1 is wrong their mean is m and their variance 1 - m²: so much
        margin is left by noise, √(1 - noise). The lead of one class over another is twice the
        mean, and its variance that of both. A smaller margin lies where the mean goes from one
        class to the other.
        """
        outputs = np.where(answer.side == 0, 2.0, 1.0)
        left = outputs * np.sqrt(np.maximum(1 - answer.noise / outputs, 0))
        reason = np.where(answer.margin < _SHARP * left, 1, 2)
        reason = np.where(answer.model > self.deviation, 3, reason)
        return np.where(accepted, 0, reason)


@dataclass(frozen=True, eq=False)
class Deciding:
    """How certain rows are, and which of them are answered.

    `left_out` are training rows; rows held out come with the confidence level of what they promise.
    Thresholds are None where nothing was asked for.
    """

    confidence: Confidence
    left_out: ScoredRows
    novelty: NoveltyLimit
    held_out: tuple[ScoredRows, float] | None = None
    thresholds: Thresholds | None = None
