"""What a model of numbers says of a block of rows: means, bounds, quantiles and variances."""

import math
from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place
from elmband.models.fitted import Fitted
from elmband.uncertainty.noise.parts import Parts

REASONS = np.array(["accepted", "noisy here", "unlike training rows"], dtype=object)
"""Why a row is accepted or not; a number in a file is the place in this list."""

_NOISY = 1
# The share of a normal distribution within one standard deviation, 68.27 %.
_ONE_DEVIATION = math.erf(math.sqrt(0.5))


class VarianceParts(NamedTuple):
    """Variance of every prediction in named parts, all in squared units of y.

    These are before calibration: `predict(X, return_std=True)` and intervals also have the
    multiplier that rows left out or held out call for. With a `target_transform` all are in
    squared units of the transformed targets, on which the model is additive; with "log", the
    square root of a small one is a relative error.

    Attributes
    ----------
    noise : array
        Predicted variance of the noise; negative values of the published model become zero.
    mean_model : array
        Variance of the predicted mean, σ_y²: large where rows were few.
    noise_model : array
        What the uncertainty of the noise model adds (σ_r² of the published model, on
        standardised y).
    total : array
        Their sum, the variance behind the prediction interval.
    noise_lower, noise_upper : array
        Bounds of the noise variance itself.
    """

    noise: Array
    mean_model: Array
    noise_model: Array
    total: Array
    noise_lower: Array
    noise_upper: Array


class IntervalTriage(NamedTuple):
    """Predictions to take and rows for a person.

    Attributes
    ----------
    mean : array of shape (n,) or (n, m)
        The predicted mean of every row.
    interval : array of shape (n, 2) or (n, m, 2)
        Its interval.
    accepted : array of bool, (n,)
        Whether the interval is narrow enough, for every output.
    reason : array of str, (n,)
        "accepted", or what most of the variance comes from: targets are "noisy here", or the row
        is "unlike training rows", of which the model knows too little there.
    """

    mean: Any
    interval: Any
    accepted: Any
    reason: Any


class Levels(NamedTuple):
    """The confidence levels asked for, and whether it was a single one."""

    values: tuple[float, ...]
    single: bool


def level_name(level: float) -> str:
    """Return a level as it stands in the names of columns: 0.9, and 0.99999999 is not 1."""
    return f"{level:.12g}"


def check_levels(confidence_level: Any, name: str = "confidence_level") -> Levels:
    """Return one level or a list of levels, each strictly between 0 and 1."""
    levels = np.asarray(confidence_level)
    if levels.dtype.kind not in "fiu" or levels.ndim > 1 or levels.size == 0:
        raise ValueError(
            f"{name} must be a number between 0 and 1, or a list of such numbers; "
            f"got {confidence_level!r}."
        )
    wrong = levels[~((levels > 0) & (levels < 1))]
    if wrong.size:
        value = float(wrong.flat[0])
        hint = f" Did you mean {value / 100:g}?" if 1 < value < 100 else ""
        raise ValueError(f"{name} must lie strictly between 0 and 1; got {value:g}.{hint}")
    return Levels(tuple(float(level) for level in np.atleast_1d(levels)), levels.ndim == 0)


def means(fitted: Fitted, X: Array) -> Array:
    """Return the predicted mean of every row, (n, m), of points and of intervals."""
    targets = fitted.targets
    if fitted.noise is None or not targets.transformed or targets.support is None:
        return targets.smeared(fitted.mean.mean(X), X)
    return mean_in_units(fitted, fitted.totals(X), X)


def mean_in_units(fitted: Fitted, parts: Parts, X: Array) -> Array:
    """Return the mean of y, (n, m); of transformed targets it is taken over their scores.

    Models of an earlier version have no support, and go on to predict medians there.
    """
    targets = fitted.targets
    if not targets.transformed or targets.support is None:
        return targets.in_units(parts.mean, X)
    mean = double(parts.mean)
    root = namespace(mean).sqrt
    tails = (parts.total, parts.total) if fitted.symmetric else (parts.below, parts.above)
    below, above = (root(double(v)) for v in tails)
    steps = _steps(place(fitted.score_points.T, mean)[:, None, :], below, above)
    return targets.averaged(mean, [steps[k, ...] for k in range(steps.shape[0])], X)


def _steps(scores: Array, below: Array, above: Array) -> Array:
    """Return scores (k, 1, m) of all rows in standardised targets, (k, n, m)."""
    xp = namespace(above)
    # A score of zero is no step, be the deviation infinite.
    none = scores == 0
    step = xp.where(scores < 0, below, above) * xp.where(none, 1.0, scores)
    return xp.where(none, 0.0, step)


def bounds(fitted: Fitted, parts: Parts, level: float, X: Array) -> list[Array]:
    """Return both bounds of the central interval at `level`, in the units of y, each (n, m)."""
    calibration, targets = fitted.calibration, fitted.targets
    assert calibration is not None
    if level == 0 and (fitted.symmetric or calibration.kind == "gaussian"):
        return [targets.among_values(targets.in_units(parts.mean, X), 0)] * 2
    if fitted.symmetric:
        pairs = [(calibration.symmetric(level, j),) * 2 for j in range(targets.count)]
        below, above = parts.total, parts.total
    else:
        pairs = [calibration.tails(level, j) for j in range(targets.count)]
        below, above = parts.below, parts.above
    z = place(pairs, X, namespace(X).float64)
    # A median is a single number even where nothing is known of the noise.
    ends = (-math.inf, math.inf) if level else (double(parts.mean),) * 2
    lower = _bound(parts.mean, -z[:, 0], below, above, ends[0])
    upper = _bound(parts.mean, z[:, 1], below, above, ends[1])
    sides = (-1, 1) if level else (0, 0)
    return [
        targets.among_values(targets.in_units(bound, X), side)
        for bound, side in zip((lower, upper), sides, strict=True)
    ]


def _bound(mean: Array, z: Array, below: Array, above: Array, end: Any) -> Array:
    """Return the mean and z (m,) deviations of the side they go to, `end` where that is unknown."""
    xp = namespace(mean)
    std = xp.sqrt(double(xp.where(z < 0, below, above)))
    bound = double(mean) + z * std
    # Where mean and variance are both too large for a number, anything may happen.
    return xp.where(xp.isinf(std) | xp.isnan(bound), end, bound)


def intervals(fitted: Fitted, parts: Parts, levels: tuple[float, ...], X: Array) -> Array:
    """Return the bounds at all levels, (n, m, 2, k)."""
    xp = namespace(X)
    return xp.stack([xp.stack(bounds(fitted, parts, level, X), axis=2) for level in levels], axis=3)


def quantile(fitted: Fitted, parts: Parts, share: float, X: Array) -> Array:
    """Return a quantile of every row, (n, m): a bound of a central interval."""
    return bounds(fitted, parts, abs(2 * share - 1), X)[int(share > 0.5)]


def deviation(fitted: Fitted, parts: Parts, X: Array) -> Array:
    """Return standard deviations in the units of y, (n, m).

    Where bounds are not alike it is half the width of the central 68.27 % interval.
    """
    targets, xp = fitted.targets, namespace(X)
    if targets.transformed:
        low, high = bounds(fitted, parts, _ONE_DEVIATION, X)
        # Both bounds may lie at the same infinite end of the range.
        low = xp.where(xp.isinf(high), 0.0, low)
        return xp.abs(high - low) / 2
    assert fitted.calibration is not None
    factors = [fitted.calibration.std(j) for j in range(targets.count)]
    return targets.scaled(xp.sqrt(double(parts.total)) * place(factors, X, xp.float64), X)


def variance_parts(fitted: Fitted, X: Array, z: float) -> VarianceParts:
    """Return the variance of rows in named parts; bounds of the noise lie z deviations away."""
    targets = fitted.targets
    parts, unit = fitted.parts(X, z), double(targets.scaling.scale)
    chosen = (getattr(parts, name) for name in VarianceParts._fields)
    return VarianceParts(*(targets.shaped(targets.scaled(v * unit, X)) for v in chosen))


def narrow(fitted: Fitted, parts: Parts, level: float, max_width: Any, X: Array) -> Array:
    """Return which rows of a block have narrow intervals only, (n,)."""
    xp, count = namespace(X), fitted.targets.count
    widths = np.asarray(max_width, dtype=np.float64)
    if widths.shape not in ((), (count,)) or not np.all(widths >= 0):
        raise ValueError(
            f"max_width must be zero or more, or such a number for each of {count} outputs; "
            f"got {max_width!r}."
        )
    low, high = bounds(fitted, parts, level, X)
    # An infinite interval is never narrow, even where both bounds are at the same end.
    fits = (high - low <= place(widths, X, low.dtype)) & xp.isfinite(high - low)
    return xp.all(fits, axis=1)


def reasons(parts: Parts, accepted: Array) -> Array:
    """Return the place among `REASONS` for every row, (n,)."""
    xp = namespace(accepted)
    unknown = xp.any(parts.mean_model + parts.noise_model > parts.noise, axis=1)
    reason = _NOISY + xp.astype(unknown, xp.int64)
    return xp.where(accepted, xp.zeros_like(reason), reason)
