"""Counts of decided rows, and what they say of a classifier that abstains."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from elmband.ground.arrays import Floats
from elmband.ground.wording import percent
from elmband.sums.moments import Moments


@dataclass(frozen=True, eq=False)
class Decided(Moments):
    """Weights of rows by true class, called class and whether they were answered, (k, k, 2)."""

    counts: Floats


class SelectiveEvaluation(NamedTuple):
    """How a classifier that abstains did on rows that training did not see.

    Attributes
    ----------
    n : float
        Number of rows.
    answered : float
        Share of them that was answered.
    error : float
        Share of the answered rows that were wrong; nan where none was answered.
    error_of_all : float
        Share of all rows whose label is wrong, answered or not.
    fpr, precision : float
        Rows answered as positive that are not, as a share of all rows that are not; and rows
        answered as positive that are, as a share of those answered so. nan without a positive
        class or such rows.
    """

    n: float
    answered: float
    error: float
    error_of_all: float
    fpr: float
    precision: float

    @classmethod
    def of(cls, decided: Decided, positive: int | None) -> Self:
        """Sum up counts."""
        counts = decided.counts
        n, answered = float(counts.sum()), float(counts[:, :, 1].sum())
        if not n > 0:
            raise ValueError("There are no rows with a weight above zero to evaluate on.")
        # Summed directly: a difference of sums would leave rounding where nothing is wrong.
        wrong = counts[~np.eye(len(counts), dtype=np.bool_)].sum(axis=0)
        fpr = precision = np.nan
        if positive is not None:
            called, negative = counts[:, positive, 1], np.arange(len(counts)) != positive
            fpr = _ratio(float(called[negative].sum()), float(counts[negative].sum()))
            precision = _ratio(float(called[positive]), float(called.sum()))
        error = _ratio(float(wrong[1]), answered)
        return cls(n, answered / n, error, float(wrong.sum()) / n, fpr, precision)

    def __str__(self) -> str:
        lines = [
            f"rows           {self.n:,.10g}",
            f"answered       {percent(self.answered)}",
            f"error answered {_written(self.error)}",
            f"error of all   {percent(self.error_of_all)}",
        ]
        if not np.isnan([self.fpr, self.precision]).all():
            lines += [
                f"false positive {_written(self.fpr)}",
                f"precision      {_written(self.precision)}",
            ]
        return "\n".join(lines)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else np.nan


def _written(share: float) -> str:
    return "no such rows" if np.isnan(share) else percent(share)
