"""Multipliers of the standard deviation: normal, from rows left out, or conformal.

A score is (y - ŷ) / std of a row that the model did not see. Scores of training rows left out in
closed form cost nothing, but they depend on each other through γ, weights and noise model, so
their quantiles are an estimate without a finite-sample guarantee. Scores of rows held out give, by
split conformal prediction, intervals that cover at least the share asked for, on average over
exchangeable rows, whatever the model.
"""

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from scipy.special import ndtri

from elmband._arrays import Array, double, namespace, to_numpy
from elmband.moments import Moments

Floats = np.ndarray[Any, np.dtype[np.float64]]

# Levels whose multipliers a calibration shows of itself.
_TOLD = (0.5, 0.9, 0.95)

# Scores that a mean is taken over where targets are transformed.
_POINTS = 40

# Sums of weights may fall short of a rank by rounding alone.
SHORT = 1 - 1e-12


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one output in ascending order, with cumulated weights."""

    t: Floats
    cumulated: Floats

    @classmethod
    def of(cls, t: Floats, s: Floats) -> Self:
        """Sort scores; a row of weight s counts s times."""
        order = np.argsort(t, kind="stable")
        return cls(t[order], np.cumsum(s[order]))

    @property
    def n(self) -> float:
        """Number of rows."""
        return float(self.cumulated[-1])

    def __repr__(self) -> str:
        return f"Scores({self.n:,.10g} rows, from {self.t[0]:.3g} to {self.t[-1]:.3g})"

    def _at(self, rank: float) -> float:
        """Return the least score with at least `rank` rows at or below it, inf past the end."""
        index = int(np.searchsorted(self.cumulated, rank * SHORT))
        return float(self.t[index]) if index < len(self.t) else math.inf

    def mirrored(self, rank: float) -> float:
        """Return the score at a rank that is counted from the top, or rather the next lower one.

        It is where the other tail, whose order is the reverse, has that rank.
        """
        index = np.searchsorted(self.cumulated, self.n - rank * SHORT, side="right")
        return float(self.next_lower(index))

    def next_lower(self, index: Any) -> Floats:
        """Return the scores next below those at an index, not less than 0.

        A score that stands for a bin is its upper edge: the next lower one is below all of it.
        """
        place = np.searchsorted(self.t, self.t[index])
        return np.where(place > 0, np.maximum(self.t[place - 1], 0.0), 0.0)

    def conformal_rank(self, share: float) -> float:
        """Return ⌈(n + 1)·share⌉."""
        return math.ceil((self.n + 1) * share * SHORT)

    def conformal(self, share: float) -> float:
        """Return the ⌈(n + 1)·share⌉-th score, infinite where there are too few."""
        return self._at(self.conformal_rank(share))

    def estimated_rank(self, share: float) -> float:
        """Return (n + 1)·share."""
        return (self.n + 1) * share

    def estimated(self, share: float, tail: Callable[[float], float]) -> float:
        """Return the score at rank (n + 1)·share; past the last one, follow `tail`."""
        rank = self.estimated_rank(share)
        if rank <= self.n:
            return self._at(rank)
        end = max(tail(self.n / (self.n + 1)), 0.5)
        return float(self.t[-1]) * max(tail(share) / end, 1.0)

    def quantile(self, share: float) -> float:
        """Return the least score that a share of the rows does not exceed."""
        return self._at(share * self.n)

    @property
    def root_mean_square(self) -> float:
        """The factor that gives standard deviations the size of the errors."""
        weights = np.diff(self.cumulated, prepend=0.0)
        return float(np.sqrt(weights @ self.t**2 / self.n))


def two_sided(level: float) -> float:
    """Return z = Φ⁻¹((1 + level) / 2)."""
    return float(ndtri((1 + level) / 2))


def one_sided(share: float) -> float:
    """Return z = Φ⁻¹(share)."""
    return float(ndtri(share))


class OutputScores(NamedTuple):
    """Scores of one output: absolute ones, and signed ones for the tail above and below."""

    both: Scores
    above: Scores
    below: Scores


def output_scores(e: Array, totals: Sequence[Array], s: Array) -> OutputScores:
    """Divide errors (n,) by the deviations of both tails, of the upper and of the lower one."""
    weights = to_numpy(double(s))
    return OutputScores(*(Scores.of(t, weights) for t in _standardised(e, totals)))


def _standardised(e: Array, totals: Sequence[Array]) -> tuple[Floats, ...]:
    xp = namespace(e)
    both, above, below = (
        to_numpy(double(e) / xp.sqrt(xp.clip(double(v), min=1e-300))) for v in totals
    )
    return np.abs(both), above, -below


@dataclass(frozen=True, eq=False)
class ScoreBins(Moments):
    """Weights of scores in narrow bins, for every output and tail, (m, 3, number of bins).

    Bins count where rows are too many to be kept. Quantiles take the upper edge of a bin: they
    err upwards, by less than 0.25 %.
    """

    weights: Floats

    def scores(self) -> tuple[OutputScores, ...]:
        """Return the scores of every output, each bin at its upper edge."""
        edges = _edges()
        return tuple(OutputScores(*(Scores.of(edges, w) for w in one)) for one in self.weights)


def score_bins(e: Array, totals: Sequence[Array], s: Array | None) -> ScoreBins:
    """Count the scores of rows with errors e (n, m) and variances of each tail, three (n, m)."""
    weights = np.ones(e.shape[0]) if s is None else to_numpy(double(s))
    edges = _edges()
    outputs = []
    for j in range(e.shape[1]):
        scores = _standardised(e[:, j], [v[:, j] for v in totals])
        places = (np.minimum(np.searchsorted(edges, t), len(edges) - 1) for t in scores)
        outputs.append([np.bincount(place, weights, minlength=len(edges)) for place in places])
    return ScoreBins(np.array(outputs))


@cache
def _edges() -> Floats:
    """Return upper edges of bins: 0 for what is below, then 0.25 % apart from 1e-4 to 1e4."""
    return np.concatenate([[0.0], np.geomspace(1e-4, 1e4, round(math.log(1e8) / 0.0025))])


@dataclass(frozen=True, eq=False)
class Calibration:
    """Multipliers for every output, from scores unless they are normal."""

    kind: Literal["gaussian", "loo", "conformal"]
    outputs: tuple[OutputScores, ...]

    def __repr__(self) -> str:
        if self.kind == "gaussian":
            return "Calibration('gaussian'; multipliers of the normal distribution)"
        scores = [output.both for output in self.outputs]
        what = f"{self.kind!r}, {scores[0].n:,.10g} rows"
        if len(scores) > 1:
            return f"Calibration({what}; n_outputs={len(scores)})"
        found = ", ".join(f"{_plain(scores[0], self.kind, p):.3g} at {100 * p:g} %" for p in _TOLD)
        return f"Calibration({what}; multipliers {found})"

    def symmetric(self, level: float, output: int) -> float:
        """Return the multiplier of a symmetric interval."""
        if self.kind == "gaussian":
            return two_sided(level)
        scores = self.outputs[output].both
        if self.kind == "loo":
            return scores.estimated(level, two_sided)
        return _warned(scores.conformal(level), scores.n, level, level)

    def tails(self, level: float, output: int) -> tuple[float, float]:
        """Return the multipliers below and above; each tail keeps its own half of the misses.

        A negative one is for the deviation of the other tail: of skewed noise both bounds may lie
        on the same side of the mean.
        """
        if self.kind == "gaussian":
            return two_sided(level), two_sided(level)
        _, above, below = self.outputs[output]
        return self._tail(below, above, level), self._tail(above, below, level)

    def _tail(self, own: Scores, other: Scores, level: float) -> float:
        """Return the multiplier of one tail, from scores of the other one where it is negative."""
        share = (1 + level) / 2
        if self.kind == "loo":
            multiplier, rank = own.estimated(share, one_sided), other.estimated_rank(share)
        else:
            multiplier = _warned(own.conformal(share), own.n, share, level)
            rank = other.conformal_rank(share)
        return multiplier if multiplier > 0 else -other.mirrored(rank)

    def points(self, output: int) -> Floats:
        """Return equally likely scores in ascending order, to take means over.

        Negative ones are in deviations of the lower tail, positive ones in those of the upper.
        """
        shares = (np.arange(_POINTS) + 0.5) / _POINTS
        if self.kind == "gaussian":
            return np.asarray(ndtri(shares))
        _, above, below = self.outputs[output]
        points = ((above.quantile(p), -max(below.quantile(1 - p), 0.0)) for p in shares.tolist())
        return np.array([high if high > 0 else low for high, low in points])

    def std(self, output: int) -> float:
        """Return the factor of the standard deviation."""
        return 1.0 if self.kind == "gaussian" else self.outputs[output].both.root_mean_square


def _plain(scores: Scores, kind: str, level: float) -> float:
    """Return a multiplier without a warning."""
    return scores.conformal(level) if kind == "conformal" else scores.estimated(level, two_sided)


def _warned(multiplier: float, n: float, share: float, level: float) -> float:
    """Pass a multiplier on, with a warning where it is infinite."""
    if math.isinf(multiplier):
        needed = math.ceil(share / (1 - share) * SHORT)
        warnings.warn(
            f"{n:g} calibration rows are too few for a guarantee at confidence_level={level:g}: "
            f"the interval is infinite. Calibrate with at least {needed} rows.",
            UserWarning,
            stacklevel=5,
        )
    return multiplier
