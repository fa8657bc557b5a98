"""What an interval model says of rows."""

import math
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Array, Floats, double, to_numpy
from elmband.ground.wording import percent_exactly
from elmband.models.intervals import bounds, deviation, mean_in_units
from elmband.report.inputs import placed

if TYPE_CHECKING:
    from elmband.models.fitted import Fitted

# Where coverage is looked at, besides the level asked for.
_LEVELS = (*(k / 20 for k in range(1, 20)), 0.99)


class Predictions(NamedTuple):
    """Mean and standard deviation (n,), bounds (n, k), and shares of the variance (n,).

    Of `noise` and `unknown`, the former is in the targets, and the latter is there because training
    rows were few.
    """

    mean: Floats
    std: Floats
    lower: Floats
    upper: Floats
    noise: Floats
    unknown: Floats


def predictions(model: Any, X: Array, levels: tuple[float, ...]) -> Predictions:
    """Return mean, deviation, intervals and variance parts of a block, computed once."""
    X = placed(model, X)
    fitted: Fitted = model.fitted_
    parts = fitted.parts(X)
    pairs = [bounds(fitted, parts, level, X) for level in levels]
    lower, upper = (np.stack([_column(pair[side]) for pair in pairs], axis=1) for side in (0, 1))
    total, noise = _column(parts.total), _column(parts.noise)
    known = total > 0
    share = np.divide(noise, total, out=np.zeros_like(noise), where=known)
    return Predictions(
        _column(mean_in_units(fitted, parts, X)),
        _column(deviation(fitted, parts, X)),
        lower,
        upper,
        share,
        np.where(known, 1 - share, 0.0),
    )


def levels_of(model: Any, confidence_level: float) -> tuple[float, ...]:
    """Return the levels to look at, in order: those at which intervals are finite."""
    if not _is_finite(model, confidence_level):
        raise ValueError(
            f"Intervals at {percent_exactly(confidence_level)} are infinite: the model was "
            "calibrated on too few rows for that; choose a lower confidence_level."
        )
    asked = sorted({*_LEVELS, confidence_level})
    return tuple(level for level in asked if _is_finite(model, level))


def _is_finite(model: Any, level: float) -> bool:
    calibration = model.calibration_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if model.symmetric_:
            return math.isfinite(calibration.symmetric(level, 0))
        return all(map(math.isfinite, calibration.tails(level, 0)))


def _column(values: Array) -> Floats:
    """Return the only output of (n, 1) on NumPy."""
    return np.asarray(to_numpy(double(values))[:, 0])
