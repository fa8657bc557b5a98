"""Intervals and standard deviations in the units of y."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import to_numpy
from elmband.models.fitted import Fitted
from elmband.models.onnx_export._fitted import dtype_of
from elmband.models.onnx_export._graph import DOUBLE, Tensor, where
from elmband.models.onnx_export._mean import mean_of
from elmband.models.onnx_export._multipliers import Multipliers, multipliers
from elmband.models.onnx_export._noise import Totals, variance_totals
from elmband.models.onnx_export._units import among_values, averaged, in_units, supported
from elmband.uncertainty.transform import Identity

# The share of a normal distribution within one standard deviation, 68.27 %.
_ONE_DEVIATION = math.erf(math.sqrt(0.5))
# A deviation that is as good as infinite, and gives numbers all the same.
_LARGE = 1e150


class Intervals(NamedTuple):
    """Mean, bounds and standard deviation, each (n, m)."""

    mean: Tensor
    lower: Tensor
    upper: Tensor
    std: Tensor


def intervals(X: Tensor, level: Tensor, fitted: Fitted) -> Intervals:
    """Return what an interval model answers at a level (1,)."""
    assert fitted.calibration is not None
    given = mean_of(X, fitted)
    # Numbers that are too large leave none: nothing is known of such a row.
    totals = Totals(*(_known(t, math.inf) for t in variance_totals(X, given, fitted)))
    given = _known(given, 0.0)
    mean = supported(given, fitted)
    if fitted.targets.support is not None:
        beyond = given.to(DOUBLE) - mean
        totals = Totals(*(total + beyond * beyond for total in totals))
    z = multipliers(level, fitted.calibration, symmetric=fitted.symmetric)
    lower, upper = _bounds(mean, totals, z, fitted)
    return Intervals(_mean(mean, totals, fitted), lower, upper, _std(mean, totals, fitted))


def _known(values: Tensor, otherwise: float) -> Tensor:
    return where(values.apply("IsNaN", dtype=np.dtype(np.bool_)), otherwise, values)


def _mean(mean: Tensor, totals: Totals, fitted: Fitted) -> Tensor:
    """Return the mean of y; of transformed targets it is taken over their scores."""
    if isinstance(fitted.targets.transform, Identity) or fitted.targets.support is None:
        return in_units(mean, fitted)
    assert fitted.calibration is not None
    scores = np.array([fitted.calibration.points(j) for j in range(fitted.targets.count)])
    tails = (totals.both, totals.both) if fitted.symmetric else (totals.below, totals.above)
    below, above = (tail.apply("Sqrt") for tail in tails)
    return averaged(mean, (_step(t, below, above) for t in scores.T), fitted)


def _step(scores: np.ndarray[Any, Any], below: Tensor, above: Tensor) -> Tensor:
    """Return scores (m,) of all rows in standardised targets, (n, m)."""
    # A score of zero is no step, be the deviation infinite.
    below, above = (std.apply("Min", _LARGE) for std in (below, above))
    step: Tensor = below * np.minimum(scores, 0.0) + above * np.maximum(scores, 0.0)
    return step


def _bounds(mean: Tensor, totals: Totals, z: Multipliers, fitted: Fitted) -> tuple[Tensor, Tensor]:
    mean = mean.to(DOUBLE)
    if fitted.symmetric:
        std = totals.both.apply("Sqrt")
        below, above = std * z.low, std * z.high
    else:
        below = _distance(z.low, totals.below, totals.above)
        above = _distance(z.high, totals.above, totals.below)
    lower, upper = in_units(mean - below, fitted), in_units(mean + above, fitted)
    return among_values(lower, fitted, -1), among_values(upper, fitted, 1)


def _distance(z: Tensor, own: Tensor, other: Tensor) -> Tensor:
    """Return how far outwards of the mean the bound of a tail lies, (n, m)."""
    std = where(z < 0.0, other, own).apply("Sqrt")
    # Where nothing is known of the noise a bound is at the end of its own side.
    unknown = std.apply("IsInf", dtype=np.dtype(np.bool_))
    return std * where(unknown, z.apply("Abs"), z)


def _std(mean: Tensor, totals: Totals, fitted: Fitted) -> Tensor:
    """Return the standard deviation; with a transform, half the width of an interval of one."""
    assert fitted.calibration is not None
    outputs = range(fitted.targets.count)
    if isinstance(fitted.targets.transform, Identity):
        factors = [fitted.calibration.std(j) for j in outputs]
        scale = to_numpy(fitted.targets.scaling.scale).astype(DOUBLE)
        return (totals.both.apply("Sqrt") * factors * scale).to(dtype_of(fitted))
    with warnings.catch_warnings():
        # Too few rows for a guarantee are told of where intervals are asked for.
        warnings.simplefilter("ignore")
        pairs = [_one_deviation(fitted, j) for j in outputs]
    low, high = (totals.both.beside(z) for z in np.array(pairs).T)
    lower, upper = _bounds(mean, totals, Multipliers(low, high), fitted)
    # Both bounds may lie at the same infinite end of the range.
    lower = where(upper.apply("IsInf", dtype=np.dtype(np.bool_)), 0.0, lower)
    return (upper - lower).apply("Abs") * 0.5


def _one_deviation(fitted: Fitted, output: int) -> tuple[float, float]:
    assert fitted.calibration is not None
    if fitted.symmetric:
        return (fitted.calibration.symmetric(_ONE_DEVIATION, output),) * 2
    return fitted.calibration.tails(_ONE_DEVIATION, output)
