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

from elmband.ground.arrays import Array, double, namespace, to_numpy
from elmband.sums.moments import Moments

Floats = np.ndarray[Any, np.dtype[np.float64]]

# Levels whose multipliers a calibration shows of itself.
_TOLD = (0.5, 0.9, 0.95)

# Scores that a mean is taken over where targets are transformed.
_POINTS = 40

# Scores that differ by less than this share are the same.
_ROUNDING = 1e-7

# Tails past the last score begin no nearer to the middle than this: of a single score the share
# is one half, and a tail from there on would have no unit.
LEAST_END = 0.5

# Scores that a model keeps of many: so many at either end, and about so many between them.
_KEPT_ENDS, _KEPT_BETWEEN = 1000, 2000

# Sums of weights may fall short of a rank by rounding alone.
SHORT = 1 - 1e-12


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of one output in ascending order, with cumulated weights."""

    t: Floats
    cumulated: Floats

    @classmethod
    def of(cls, t: Floats, s: Floats, unit: Floats | None = None) -> Self:
        """Sort scores of rows with weights s, which count as many rows as these are worth.

        Weights of ten for each of fifteen rows do not make them a hundred and fifty: weights are
        scaled to add up to their effective number (Σs)² / Σs² (Kish). Copies of a row are one row:
        `unit` is the weight of all of them, and Σ s·unit stands for Σs². Rows of weight zero are
        not there.
        """
        unit = s if unit is None else unit
        if s.min() == s.max() and (unit == s).all():
            return cls.counted(t, np.sign(s))
        copied = bool((unit > s).any())
        t, s, unit = (a[s > 0] for a in (t, s, unit))
        found = cls.counted(t, s * worth(float(s.sum()), float(s @ unit)))
        return found.merged() if copied else found

    def merged(self) -> Self:
        """Make one score of copies, which differ by rounding: what a weight would have made."""
        ends = np.diff(self.t, append=np.inf) > _ROUNDING * np.abs(self.t)
        return type(self)(self.t[ends], self.cumulated[ends])

    @classmethod
    def counted(cls, t: Floats, counts: Floats) -> Self:
        """Sort scores; one that counts c is c scores."""
        order = np.argsort(t, kind="stable")
        return cls(t[order], np.cumsum(counts[order]))

    def thinned(self) -> Self:
        """Keep the scores at both ends and some 2,000 of those between them, equal ranks apart.

        Multipliers from rows left out lie on the line between two scores, and hardly change; a
        model holds no more of many rows than of a few thousand.
        """
        n = len(self.t)
        if n <= 2 * _KEPT_ENDS + _KEPT_BETWEEN:
            return self
        between = np.linspace(_KEPT_ENDS, n - _KEPT_ENDS - 1, _KEPT_BETWEEN).round().astype(int)
        kept = np.r_[np.arange(_KEPT_ENDS), between, np.arange(n - _KEPT_ENDS, n)]
        return type(self)(self.t[kept], self.cumulated[kept])

    def times(self, factor: float) -> Self:
        """Let every score count `factor` times."""
        return self if factor == 1 else type(self)(self.t, self.cumulated * factor)

    @property
    def n(self) -> float:
        """Number of rows, the effective one where weights differ, or of groups."""
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

    def rank(self, share: float) -> float:
        """Return (n + 1)·share."""
        return (self.n + 1) * share

    def conformal(self, share: float) -> float:
        """Return the ⌈(n + 1)·share⌉-th score, infinite where there are too few."""
        return self._at(self.rank(share))

    def estimated(self, share: float, tail: Callable[[float], float]) -> float:
        """Return the score at rank (n + 1)·share, on the line between the two next to it.

        Past the last one, follow a tail of Student's t with n - 1 degrees of freedom: n scores do
        not tell the spread of their like any better. `tail` gives normal quantiles.
        """
        rank = self.rank(share)
        if rank <= self.n:
            return self._between(rank * SHORT)
        last = heavier(max(tail(self.n / (self.n + 1)), LEAST_END), self.n)
        return float(self.t[-1]) * max(heavier(tail(share), self.n) / last, 1.0)

    def _between(self, rank: float) -> float:
        """Return the score at a rank, which need not be a whole number."""
        index = int(np.searchsorted(self.cumulated, rank))
        if index == 0:
            return float(self.t[0])
        (low, high), (t_low, t_high) = (a[index - 1 : index + 1] for a in (self.cumulated, self.t))
        return float(t_low + (rank - low) / (high - low) * (t_high - t_low))

    def quantile(self, share: float) -> float:
        """Return the least score that a share of the rows does not exceed."""
        return self._at(share * self.n)

    @property
    def root_mean_square(self) -> float:
        """The factor that gives standard deviations the size of the errors."""
        weights = np.diff(self.cumulated, prepend=0.0)
        return float(np.sqrt(weights @ self.t**2 / self.n))


def worth(total: float, squares: float) -> float:
    """Return the factor Σs / Σs² of weights, which makes them add up to their effective number."""
    return total / squares if squares > 0 else 1.0


def heavier(z: float, n: float) -> float:
    """Return the quantile of Student's t where the normal one is z ≥ 0, by Wallace's formula.

    With ν = n - 1 degrees of freedom, at least 1, t = √(ν (e^(u²/ν) - 1)), u = z (8ν + 3)/(8ν + 1):
    within 1.5 % from ν = 7 on, and wider far out for fewer. A closed form can be part of an ONNX
    graph.
    """
    freedom = max(n - 1, 1.0)
    u = max(z, 0.0) * (8 * freedom + 3) / (8 * freedom + 1)
    return math.sqrt(freedom * math.expm1(u * u / freedom))


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

    def thinned(self) -> "OutputScores":
        """Keep no more of many scores than of a few thousand."""
        return OutputScores(*(scores.thinned() for scores in self))


class RowScores(NamedTuple):
    """Signed scores of rows by the deviation of both tails, the upper and the lower one, (n, m).

    `s` (n,) are weights, `unit` those of a row with all its copies.
    """

    both: Floats
    above: Floats
    below: Floats
    s: Floats
    unit: Floats

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the rows of all parts, one after the other."""
        return cls(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))

    def taken(self, index: Any) -> Self:
        """Return the rows at these positions."""
        return type(self)(*(array[index] for array in self))

    def blended(self, other: Self, share: float) -> Self:
        """Return the mean of the scores of the same rows, these with a `share`."""
        both, above, below = (
            share * a + (1 - share) * b for a, b in zip(self[:3], other[:3], strict=True)
        )
        return type(self)(both, above, below, other.s, other.unit)

    def outputs(self, factor: float = 1.0) -> tuple[OutputScores, ...]:
        """Return the sorted scores of every output, each of which counts `factor` times."""
        return self._sorted(lambda t: Scores.of(t, self.s, self.unit).times(factor))

    def of_groups(self, labels: np.ndarray[Any, Any]) -> tuple[OutputScores, ...]:
        """Return the same with every group counted once, however many rows share in it.

        That is hierarchical conformal prediction: rows of a group depend on each other, and say
        of a row of a new group what one of them, drawn at random, would say.
        """
        there = self.s > 0
        _, numbers = np.unique(labels[there], return_inverse=True)
        shares = self.s[there] / np.bincount(numbers, self.s[there])[numbers]
        return self._sorted(lambda t: Scores.counted(t[there], shares))

    def _sorted(self, make: Callable[[Floats], Scores]) -> tuple[OutputScores, ...]:
        kinds = np.abs(self.both), self.above, -self.below
        outputs = range(self.both.shape[1])
        return tuple(OutputScores(*(make(t[:, j]) for t in kinds)) for j in outputs)


def row_scores(e: Array, totals: Sequence[Array], s: Array, unit: Array | None = None) -> RowScores:
    """Divide errors e (n, m) by the deviations of both tails, of the upper and of the lower one."""
    xp = namespace(e)
    both, above, below = (
        to_numpy(double(e) / xp.sqrt(xp.clip(double(v), min=1e-300))) for v in totals
    )
    weights, units = (to_numpy(double(a)) for a in (s, s if unit is None else unit))
    return RowScores(both, above, below, weights, units)


@dataclass(frozen=True, eq=False)
class ScoreBins(Moments):
    """Weights of scores in narrow bins, for every output and tail, (m, 3, number of bins).

    Bins count where rows are too many to be kept. Quantiles take the upper edge of a bin: they
    err upwards, by less than 0.25 %. `total` and `squares` are Σs and Σs².
    """

    weights: Floats
    total: float
    squares: float

    def scores(self) -> tuple[OutputScores, ...]:
        """Return the scores of every output, each bin at its upper edge."""
        edges, factor = _edges(), worth(self.total, self.squares)
        return tuple(
            OutputScores(*(Scores(edges, np.cumsum(w * factor)) for w in one))
            for one in self.weights
        )


def score_bins(e: Array, totals: Sequence[Array], s: Array | None) -> ScoreBins:
    """Count the scores of rows with errors e (n, m) and variances of each tail, three (n, m)."""
    rows = row_scores(e, totals, namespace(e).ones_like(e[:, 0]) if s is None else s)
    edges, outputs = _edges(), []
    for j in range(e.shape[1]):
        scores = np.abs(rows.both[:, j]), rows.above[:, j], -rows.below[:, j]
        places = (np.minimum(np.searchsorted(edges, t), len(edges) - 1) for t in scores)
        outputs.append([np.bincount(place, rows.s, minlength=len(edges)) for place in places])
    return ScoreBins(np.array(outputs), float(rows.s.sum()), float(rows.s @ rows.s))


@cache
def _edges() -> Floats:
    """Return upper edges of bins: 0 for what is below, then 0.25 % apart from 1e-4 to 1e4."""
    return np.concatenate([[0.0], np.geomspace(1e-4, 1e4, round(math.log(1e8) / 0.0025))])


@dataclass(frozen=True, eq=False)
class Calibration:
    """Multipliers for every output, from scores unless they are normal.

    `unit` is what a guarantee counts.
    """

    kind: Literal["gaussian", "loo", "conformal"]
    outputs: tuple[OutputScores, ...]
    unit: Literal["rows", "groups"] = "rows"

    def __repr__(self) -> str:
        if self.kind == "gaussian":
            return "Calibration('gaussian'; multipliers of the normal distribution)"
        scores = [output.both for output in self.outputs]
        what = f"{self.kind!r}, {scores[0].n:,.10g} {self.unit}"
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
        return self._warned(scores.conformal(level), scores.n, level, level)

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
            multiplier = own.estimated(share, one_sided)
        else:
            multiplier = self._warned(own.conformal(share), own.n, share, level)
        return multiplier if multiplier > 0 else -other.mirrored(other.rank(share))

    def _warned(self, multiplier: float, n: float, share: float, level: float) -> float:
        """Pass a multiplier on, with a warning where it is infinite."""
        if math.isinf(multiplier):
            needed = math.ceil(share / (1 - share) * SHORT)
            weighted = "" if math.isclose(n, round(n)) else " (that is what their weights make)"
            warnings.warn(
                f"{n:.10g} calibration {self.unit}{weighted} are too few for a guarantee at "
                f"confidence_level={level:g}: the interval is infinite. "
                f"Calibrate with at least {needed} {self.unit}.",
                UserWarning,
                stacklevel=5,
            )
        return multiplier

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
