"""Thresholds to be tried, fixed before held-out rows are seen."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from elmband._arrays import Array
from elmband.promise.risk import checked_score, group_codes
from elmband.promise.threshold import Floats, Ints

# Where walks over the grid begin: see `Grid.starts`.
FIRST_START = 3.0
APART = 3.0
MOST_STARTS = 6


@dataclass(frozen=True, eq=False)
class Grid:
    """Thresholds from the strictest to the loosest, with the shares of rows that reach them.

    Attributes
    ----------
    thresholds : (k,) floats
        Descending.
    shares : (k,) floats
        Share of rows of the denominator, or of groups with such rows, expected to be answered.
        Only the power of a promise depends on how good these are.
    """

    thresholds: Floats
    shares: Floats

    def __post_init__(self) -> None:
        if self.thresholds.shape != self.shares.shape or not self.thresholds.size:
            raise ValueError(
                f"thresholds have shape {self.thresholds.shape} and shares {self.shares.shape}; "
                "give one share for every threshold, and at least one of both."
            )
        if not (np.all(np.diff(self.thresholds) < 0) and np.all(np.diff(self.shares) >= 0)):
            raise ValueError("Thresholds have to fall from each to the next, and shares to rise.")

    @classmethod
    def of(cls, score: Array, *, groups: Array | None = None, size: int = 200) -> Self:
        """Make a grid of quantiles of training scores, closer where few rows are answered.

        Parameters
        ----------
        score : (n,) array
            Scores of training rows that are counted if answered: all for "error", those called
            positive for "fpr" and "fdr".
        groups : (n,) array, optional
            Their groups, if the promise is to be about groups.
        size : int
            Number of thresholds at most. The last one answers every row.
        """
        values = checked_score(score)
        highest = values if groups is None else _highest(values, groups)
        falling = np.sort(values)[::-1]
        n = len(falling)
        # Half of them are equally far apart, half as shares of the share before them.
        shares = np.concatenate(
            [np.linspace(0, 1, size // 2)[1:], np.geomspace(1 / max(n, 1), 1, size // 2)]
        )
        ranks = np.unique(np.ceil(shares * n * (1 - 1e-12)).astype(np.intp))
        thresholds = np.unique(falling[ranks[ranks > 0] - 1])[::-1]
        thresholds = np.append(thresholds[np.isfinite(thresholds)], -math.inf)
        below = np.searchsorted(np.sort(highest), thresholds)
        return cls(thresholds, 1 - below / max(len(highest), 1))

    def starts(self, available: int, needed: int) -> Ints:
        """Return where walks begin that need a number of rows (or groups) to get anywhere.

        At the strictest thresholds too few rows are answered to promise anything, and the first
        step that fails ends a walk. The first walk begins where three times as many rows are
        expected as are needed, or somewhat fewer where rows are few, and more begin at regular
        ratios between that and all rows, since the most certain rows are not always the best.

        Expected numbers come from training rows and from how many rows could be counted at most,
        never from the scores held out. Those would tell how many of the answered rows are among
        the most certain ones, given which the number of bad ones is not binomial any more. Given
        their number alone, rows that could be counted are independent and alike.
        """
        expected = available * self.shares
        most = max(float(expected[-1]), 1.0)
        least = min(FIRST_START * needed, max(math.sqrt(needed * most), needed), most)
        walks = min(int(math.log(most / least, APART) + 1e-9) + 1, MOST_STARTS)
        numbers = least * (most / least) ** (np.arange(walks) / walks)
        places = np.searchsorted(expected, numbers * (1 - 1e-12))
        return np.unique(np.minimum(places, len(expected) - 1))


def _highest(score: Floats, groups: Array) -> Floats:
    """Return the highest score of every group: the group is counted where that is answered."""
    codes, n_groups = group_codes(groups, len(score))
    highest = np.full(n_groups, -math.inf)
    np.maximum.at(highest, codes, score)
    return highest
