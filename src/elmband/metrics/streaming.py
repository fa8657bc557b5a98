"""Scores of any number of rows in flat memory, from sums over chunks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from elmband.ground.arrays import Floats, to_numpy
from elmband.metrics.answered import share
from elmband.metrics.checks import check_levels, judge, require, standardised
from elmband.metrics.evaluation import Evaluation, LevelEvaluation
from elmband.sums.moments import Moments
from elmband.sums.scaling import ColumnMoments, column_moments


@dataclass(frozen=True, eq=False)
class Totals(Moments):
    """Sums over rows, each counted by its weight, for m outputs and k levels.

    The errors of the mean, squared and absolute, and the negative log likelihood are (m,). The
    others are (m, k): how many targets are inside and outside of their interval, the widths of
    the intervals, and how far targets are outside.
    """

    squared: Floats
    absolute: Floats
    nll: Floats
    inside: Floats
    outside: Floats
    width: Floats
    miss: Floats


@dataclass(frozen=True, eq=False)
class IntervalSums:
    """All that an evaluation needs to know of the rows; two of them add up to that of both.

    The spread of the targets merges without cancellation, so that R² is right where their mean
    is large against it.
    """

    levels: tuple[float, ...]
    targets: ColumnMoments
    low: Floats
    high: Floats
    totals: Totals

    def __repr__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.levels[:10])
        more = ", ..." if len(self.levels) > 10 else ""
        return (
            f"IntervalSums({self.n:,.10g} rows, levels {levels}{more}; n_outputs={len(self.low)})"
        )

    @property
    def n(self) -> float:
        """Number of rows, each counted as often as its weight says."""
        return self.targets.n

    def __add__(self, other: Self) -> Self:
        same = self.levels == other.levels
        require(same, f"levels {self.levels} and {other.levels} do not add up: use the same ones")
        if not self.n or not other.n:
            return self if self.n else other
        return type(self)(
            levels=self.levels,
            targets=self.targets + other.targets,
            low=np.minimum(self.low, other.low),
            high=np.maximum(self.high, other.high),
            totals=self.totals + other.totals,
        )

    def summary(self) -> Evaluation:
        """Return the scores of all the rows."""
        require(self.n, "there are no rows to evaluate: give at least one with a weight above 0")
        n, sums = self.n, self.totals
        # Rounding leaves equal targets a spread of a few units in their last place.
        spread = np.where(self.high > self.low, self.targets.squares, 0.0)
        return Evaluation(
            n=n,
            rmse=_number(np.sqrt(sums.squared / n)),
            mae=_number(sums.absolute / n),
            r2=_number(1 - share(sums.squared, spread)),
            nll=_number(sums.nll / n),
            levels=tuple(self._level(j) for j in range(len(self.levels))),
        )

    def _level(self, j: int) -> LevelEvaluation:
        level, sums = self.levels[j], self.totals
        inside, outside = sums.inside[:, j], sums.outside[:, j]
        width, miss = sums.width[:, j] / self.n, sums.miss[:, j] / self.n
        return LevelEvaluation(
            confidence_level=level,
            # Not divided by n: where all are inside, this is 1 exactly for all weights.
            coverage=_number(inside / (inside + outside)),
            mean_width=_number(width),
            nmpiw=_number(share(width, self.high - self.low)),
            interval_score=_number(width + 2 / (1 - level) * miss),
        )


@np.errstate(over="ignore", divide="ignore", invalid="ignore")
def interval_sums(
    Y: Any, mean: Any, std: Any, interval: Any, s: Any, levels: Sequence[float]
) -> IntervalSums:
    """Sum up a chunk of n rows, m outputs and k levels.

    Parameters
    ----------
    Y, mean, std : array of shape (n, m)
        Targets, and the mean and standard deviation that were predicted for them.
    interval : array of shape (n, m, 2, k)
        Lower and upper bounds at each level; they may be infinite.
    s : array of shape (n,) or None
        How often each row counts.
    levels : sequence of float
        The k confidence levels.

    Returns
    -------
    IntervalSums
        These add up over chunks, and their `summary` has the scores.

    Examples
    --------
    >>> y, mean, std = np.array([[1.0], [5.0]]), np.array([[1.0], [2.0]]), np.ones((2, 1))
    >>> interval = np.array([[[[0.0], [2.0]]], [[[0.0], [4.0]]]])
    >>> print(interval_sums(y, mean, std, interval, None, [0.5]).summary())
    rows   RMSE  MAE      R²    NLL
       2  2.121  1.5  -0.125  3.169
    <BLANKLINE>
    level  coverage  mean width  NMPIW  interval score
     50 %       0.5           3   0.75               5
    """
    Y, mean, std, interval = (to_numpy(array) for array in (Y, mean, std, interval))
    s = None if s is None else to_numpy(s)
    require(Y.ndim == 2, f"Y has shape {Y.shape}, expected (n, m): one column for each output")
    known = check_levels("levels", levels, ndims=(1,))
    if not len(Y) or (s is not None and not s.any()):
        return _nothing(tuple(known.tolist()), Y.shape[1])
    weight, y, width, miss = judge(Y, interval, s, known.shape)
    _, error, sd, z = standardised(Y, mean, std, s)
    # A std of 0 has no likelihood: log 0 and an infinite z add up to NaN.
    nll = np.log(sd) + (np.log(2 * np.pi) + z**2) / 2
    values = (error**2, np.abs(error), nll, miss == 0, miss > 0, width, miss)
    return IntervalSums(
        levels=tuple(known.tolist()),
        targets=column_moments(y, weight),
        low=y.min(axis=0),
        high=y.max(axis=0),
        totals=Totals(*(np.tensordot(weight, v.astype(np.float64), 1) for v in values)),
    )


def _nothing(levels: tuple[float, ...], m: int) -> IntervalSums:
    none, nones = np.zeros(m), np.zeros((m, len(levels)))
    return IntervalSums(
        levels=levels,
        targets=ColumnMoments(0.0, none, none),
        low=np.full(m, np.inf),
        high=np.full(m, -np.inf),
        totals=Totals(none, none, none, nones, nones, nones, nones),
    )


def _number(values: Floats) -> float | Floats:
    return values if len(values) > 1 else float(values[0])
