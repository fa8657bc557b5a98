"""Multipliers of the standard deviation for a level that is known only when the graph runs.

Ranks are counted by the same arithmetic in float64 as in `elmband.uncertainty.calibrate`, so that
the same score is found.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from elmband.models.onnx_export._functions import normal_quantile, positive
from elmband.models.onnx_export._graph import Tensor, joined, where
from elmband.uncertainty.calibrate import (
    LEAST_END,
    SHORT,
    Calibration,
    Scores,
    heavier,
    one_sided,
    two_sided,
)


class Multipliers(NamedTuple):
    """Of the lower and of the upper bound, each (m,), or (1,) for all outputs.

    A negative one is for the deviation of the other side of the mean.
    """

    low: Tensor
    high: Tensor


def multipliers(level: Tensor, calibration: Calibration, *, symmetric: bool) -> Multipliers:
    """Return the multipliers at a level (1,); they are nan where it is not between 0 and 1."""
    valid = (level > 0.0).apply("And", level < 1.0)
    level = where(valid, level, 0.5)
    share = (level + 1.0) / 2.0
    # Normal scores of central intervals and of their tails are the same number.
    z = normal_quantile(share)
    outputs = calibration.outputs
    if calibration.kind == "gaussian":
        low = high = z
    elif symmetric:
        found = [_score(s.both, calibration, level, z, tail=False) for s in outputs]
        low = high = joined(found, axis=0)
    else:
        low = joined([_tail(s.below, s.above, calibration, share, z) for s in outputs], axis=0)
        high = joined([_tail(s.above, s.below, calibration, share, z) for s in outputs], axis=0)
    unknown = where(valid, level.beside([0.0]), math.nan)
    return Multipliers(low + unknown, high + unknown)


def _tail(own: Scores, other: Scores, calibration: Calibration, share: Tensor, z: Tensor) -> Tensor:
    """Return the multiplier of one tail, from scores of the other one where it is negative."""
    found = _score(own, calibration, share, z, tail=True)
    return where(found > 0.0, found, -_mirrored(other, _rank(other, share)))


def _score(
    scores: Scores, calibration: Calibration, share: Tensor, z: Tensor, *, tail: bool
) -> Tensor:
    """Return the score of an output that a share of the rows does not exceed, (1,)."""
    rank = _rank(scores, share)
    if calibration.kind == "conformal":
        return _at(scores, rank)
    return _estimated(scores, rank, z, tail=tail)


def _rank(scores: Scores, share: Tensor) -> Tensor:
    return share * (scores.n + 1)


def _estimated(scores: Scores, rank: Tensor, z: Tensor, *, tail: bool) -> Tensor:
    """Return the score at a rank; past the last one, follow the tail of Student's t."""
    n = scores.n
    last = n / (n + 1)
    end = heavier(max(one_sided(last) if tail else two_sided(last), LEAST_END), n)
    beyond = (_heavier(z, n) / end).apply("Max", 1.0) * float(scores.t[-1])
    return where(rank > n, beyond, _between(scores, rank))


def _heavier(z: Tensor, n: float) -> Tensor:
    """Return the quantile of Student's t where the normal one is z."""
    freedom = max(n - 1, 1.0)
    u = z.apply("Max", 0.0) * ((8 * freedom + 3) / (8 * freedom + 1))
    growth = positive((u * u / freedom).apply("Exp") - 1.0)
    return growth.apply("Sqrt") * math.sqrt(freedom)


def _before(scores: Scores, rank: Tensor) -> Tensor:
    """Count the scores that do not reach a rank."""
    if _is_plain(scores):
        return positive(rank.apply("Ceil") - 1.0)
    below = (rank.beside(scores.cumulated) < rank).to(rank.dtype)
    return below.apply("ReduceSum", keepdims=1)


def _at(scores: Scores, rank: Tensor) -> Tensor:
    """Return the least score with at least `rank` rows at or below it, inf past the end."""
    before = _before(scores, rank * SHORT)
    table = rank.beside(np.append(scores.t, math.inf))
    return table.apply("Gather", before.to(np.int64), axis=0)


def _between(scores: Scores, rank: Tensor) -> Tensor:
    """Return the score at a rank on the line between the two next to it."""
    rank = rank * SHORT
    place = _before(scores, rank).to(np.int64)
    # Below the first score, and past the last one, lines are level.
    t = np.concatenate([scores.t[:1], scores.t, scores.t[-1:]])
    end = scores.cumulated[-1]
    ranks = np.concatenate([[0.0], scores.cumulated, [end + 1]])

    def taken(values: np.ndarray[Any, Any]) -> Tensor:
        return rank.beside(values).apply("Gather", place, axis=0)

    rise, run = np.diff(t), np.where(np.diff(ranks) > 0, np.diff(ranks), 1.0)
    return taken(t[:-1]) + (rank - taken(ranks[:-1])) / taken(run) * taken(rise)


def _mirrored(scores: Scores, rank: Tensor) -> Tensor:
    """Return the score next below the one at a rank counted from the top, not less than 0."""
    rest = scores.n - rank * SHORT
    if _is_plain(scores):
        before = positive(rest.apply("Floor"))
    else:
        above = (rank.beside(scores.cumulated) > rest).to(rank.dtype)
        before = len(scores.t) - above.apply("ReduceSum", keepdims=1)
    table = rank.beside(scores.next_lower(np.arange(len(scores.t))))
    return table.apply("Gather", before.to(np.int64), axis=0)


def _is_plain(scores: Scores) -> bool:
    """Tell whether rows count once each, so that nothing needs to be counted."""
    return np.array_equal(scores.cumulated, np.arange(1, len(scores.t) + 1))
