"""Thresholds to be tried, fixed before held-out rows are seen."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from elmband.ground.arrays import Array
from elmband.uncertainty.promise.risk import checked_mask, checked_score
from elmband.uncertainty.promise.threshold import Floats

# The risk is taken to be half of the limit before any row is seen, as if so many had told.
PRIOR_ROWS = 20


@dataclass(frozen=True, eq=False)
class Grid:
    """Thresholds from the strictest to the loosest, with what training rows tell of them.

    Only the power of a promise depends on how well these resemble the rows held out.

    Attributes
    ----------
    thresholds : (k,) floats
        Descending.
    rows, bad : (k,) floats
        Training rows that reach them, and how many of these are bad.
    """

    thresholds: Floats
    rows: Floats
    bad: Floats

    def __post_init__(self) -> None:
        shapes = {a.shape for a in (self.thresholds, self.rows, self.bad)}
        if len(shapes) > 1 or not self.thresholds.size:
            raise ValueError(
                f"thresholds have shape {self.thresholds.shape}, rows {self.rows.shape} and bad "
                f"{self.bad.shape}; give one number of both for every threshold, one at least."
            )
        if not (np.all(np.diff(self.thresholds) < 0) and np.all(np.diff(self.rows) >= 0)):
            raise ValueError("Thresholds have to fall from each to the next, and rows to rise.")

    @classmethod
    def of(cls, score: Array, bad: Array, *, size: int = 200) -> Self:
        """Make a grid of quantiles of training scores, closer where few rows are answered.

        Parameters
        ----------
        score : (n,) array
            Scores of training rows that are counted if answered: all for "error", those called
            positive for "fpr" and "fdr".
        bad : (n,) array of bool
            Which of them are bad.
        size : int
            Number of thresholds at most. The last one answers every row.
        """
        values, mask = checked_score(score), checked_mask(bad, "bad")
        if len(values) != len(mask):
            raise ValueError(
                f"score has {len(values)} rows, bad has {len(mask)}; give both for the same rows."
            )
        order = np.argsort(-values, kind="stable")
        falling, n = values[order], len(values)
        # Half of them are equally far apart, half as shares of the share before them.
        shares = np.concatenate(
            [np.linspace(0, 1, size // 2)[1:], np.geomspace(1 / max(n, 1), 1, size // 2)]
        )
        ranks = np.unique(np.ceil(shares * n * (1 - 1e-12)).astype(np.intp))
        thresholds = np.unique(falling[ranks[ranks > 0] - 1])[::-1]
        thresholds = np.append(thresholds[np.isfinite(thresholds)], -math.inf)
        reached = np.searchsorted(-falling, -thresholds, side="right")
        sums = np.insert(np.cumsum(mask[order]), 0, 0)
        return cls(thresholds, reached.astype(np.float64), sums[reached].astype(np.float64))

    @property
    def shares(self) -> Floats:
        """Share of the training rows that reach each threshold."""
        return self.rows / max(float(self.rows[-1]), 1.0) if self.rows[-1] else self.rows + 1

    def risks(self, limit: float) -> Floats:
        """Return the risk to be expected at each threshold, half of the limit if nothing is known.

        A prior of few rows keeps thresholds that hardly any training row reaches in play.
        """
        return (self.bad + PRIOR_ROWS * limit / 2) / (self.rows + PRIOR_ROWS)
