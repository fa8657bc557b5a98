"""Multipliers of the standard deviation for a level that is known only when the graph runs.

Ranks are counted by the same arithmetic in float64 as in `elmband.calibrate`, so that the same
score is found.
"""

import math
from typing import NamedTuple

import numpy as np

from elmband.calibrate import Calibration, Scores, one_sided, two_sided
from elmband.onnx_export._functions import normal_quantile, positive
from elmband.onnx_export._graph import Tensor, joined, where

# Sums of weights may fall short of a rank by rounding alone.
_SHORT = 1 - 1e-12


class Multipliers(NamedTuple):
    """Of the lower and of the upper bound, each (m,), or (1,) for all outputs."""

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
        low = high = _scores([s.both for s in outputs], calibration, level, z, tail=False)
    else:
        low = _scores([s.below for s in outputs], calibration, share, z, tail=True)
        high = _scores([s.above for s in outputs], calibration, share, z, tail=True)
    unknown = where(valid, level.beside([0.0]), math.nan)
    return Multipliers(low + unknown, high + unknown)


def _scores(
    outputs: list[Scores], calibration: Calibration, share: Tensor, z: Tensor, *, tail: bool
) -> Tensor:
    """Return the scores of all outputs that a share of the rows does not exceed, (m,)."""
    if calibration.kind == "conformal":
        found = [_at(s, (share * (s.n + 1) * _SHORT).apply("Ceil")) for s in outputs]
    else:
        found = [_estimated(s, share, z, tail=tail) for s in outputs]
    together = joined(found, axis=0)
    return positive(together) if tail else together


def _estimated(scores: Scores, share: Tensor, z: Tensor, *, tail: bool) -> Tensor:
    """Return the score at rank (n + 1)·share; past the last one, follow the normal tail."""
    n = scores.n
    rank = share * (n + 1)
    last = n / (n + 1)
    end = max(one_sided(last) if tail else two_sided(last), 0.5)
    beyond = (z / end).apply("Max", 1.0) * float(scores.t[-1])
    return where(rank > n, beyond, _at(scores, rank))


def _at(scores: Scores, rank: Tensor) -> Tensor:
    """Return the least score with at least `rank` rows at or below it, inf past the end."""
    rank = rank * _SHORT
    if np.array_equal(scores.cumulated, np.arange(1, len(scores.t) + 1)):
        # Rows that count once each need no counting.
        before = rank.apply("Ceil") - 1.0
    else:
        below = (rank.beside(scores.cumulated) < rank).to(rank.dtype)
        before = below.apply("ReduceSum", keepdims=1)
    table = rank.beside(np.append(scores.t, math.inf))
    return table.apply("Gather", before.to(np.int64), axis=0)
