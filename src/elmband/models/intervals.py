"""What models of numbers are asked, and say of a block of rows: means, bounds, variances."""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.models.fitted import Fitted
from elmband.models.question import Columns, Question, column, fields, side_by_side
from elmband.uncertainty.calibrate import two_sided
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


def check_level(confidence_level: Any, who: str) -> float:
    """Return a single level."""
    levels = check_levels(confidence_level)
    if not levels.single:
        raise ValueError(f"{who} a single confidence_level.")
    return levels.values[0]


def mean_question() -> Question:
    """Ask for predicted means, (n,) or (n, m)."""
    return Question("predict", _mean, partial(column, name="mean"))


def _mean(fitted: Fitted, X: Array) -> Array:
    return fitted.targets.shaped(means(fitted, X))


def deviation_question() -> Question:
    """Ask for means and standard deviations."""
    return Question("predict", _mean_and_std, _mean_and_std_columns)


def _mean_and_std(fitted: Fitted, X: Array) -> tuple[Array, Array]:
    parts, shaped = fitted.totals(X), fitted.targets.shaped
    return shaped(mean_in_units(fitted, parts, X)), shaped(deviation(fitted, parts, X))


def _mean_and_std_columns(answer: tuple[Array, Array]) -> Columns:
    return side_by_side(dict(zip(("mean", "std"), answer, strict=True)))


def interval_question(confidence_level: Any, *, with_mean: bool = False) -> Question:
    """Ask for intervals; `predict` gives the mean with them, and so does every table."""
    levels = check_levels(confidence_level)
    whole = partial(_mean_and_interval, levels=levels)
    columns = partial(_bound_columns, levels=levels)
    if with_mean:
        return Question("predict", whole, columns)
    return Question("predict_interval", partial(_interval_of, levels=levels), columns, whole)


def _interval_of(fitted: Fitted, X: Array, levels: Levels) -> Array:
    return _interval(fitted, fitted.totals(X), levels, X)


def _mean_and_interval(fitted: Fitted, X: Array, levels: Levels) -> tuple[Array, Array]:
    parts = fitted.totals(X)
    mean = fitted.targets.shaped(mean_in_units(fitted, parts, X))
    return mean, _interval(fitted, parts, levels, X)


def _interval(fitted: Fitted, parts: Parts, levels: Levels, X: Array) -> Array:
    """Return bounds (n, m, 2, k), without the axes that nobody asked for."""
    found = intervals(fitted, parts, levels.values, X)
    found = found[..., 0] if levels.single else found
    return found[:, 0, ...] if fitted.targets.single_output else found


def _bound_columns(answer: tuple[Array, Array], levels: Levels) -> Columns:
    ends = [level_name(level) for level in levels.values]
    if len(set(ends)) < len(ends):
        raise ValueError("confidence_level names a level twice; columns need different names.")
    mean, interval = answer
    interval = interval[..., None] if levels.single else interval
    found = {"mean": mean}
    for k, end in enumerate(ends):
        found |= {f"lower_{end}": interval[..., 0, k], f"upper_{end}": interval[..., 1, k]}
    return side_by_side(found)


def quantile_question(shares: Any) -> Question:
    """Ask for quantiles, (n, k) or (n, m, k), without the last axis for a single one."""
    levels = check_levels(shares, "quantiles")
    columns = partial(_quantile_columns, levels=levels)
    return Question("predict_quantiles", partial(_quantiles, levels=levels), columns)


def _quantiles(fitted: Fitted, X: Array, levels: Levels) -> Array:
    parts = fitted.totals(X)
    columns = [quantile(fitted, parts, share, X) for share in levels.values]
    values = namespace(X).stack(columns, axis=-1)
    values = values[..., 0] if levels.single else values
    return values[:, 0, ...] if fitted.targets.single_output else values


def _quantile_columns(answer: Array, levels: Levels) -> Columns:
    answer = answer[..., None] if levels.single else answer
    names = [f"quantile_{level_name(share)}" for share in levels.values]
    return side_by_side({name: answer[..., k] for k, name in enumerate(names)})


def variance_question(confidence_level: Any) -> Question:
    """Ask for the variance in named parts."""
    z = two_sided(check_level(confidence_level, "predict_variance takes"))
    answer = partial(variance_parts, z=z)
    return Question("predict_variance", answer, fields, kind=VarianceParts, typed=True)


def width_question(max_width: Any, confidence_level: Any) -> Question:
    """Ask which rows have narrow intervals, (n,) of bool."""
    level = check_level(confidence_level, "accept and triage take")
    answer = partial(_is_narrow, level=level, max_width=max_width)
    return Question("accept", answer, partial(column, name="accepted"))


def _is_narrow(fitted: Fitted, X: Array, level: float, max_width: Any) -> Array:
    return narrow(fitted, fitted.totals(X), level, max_width, X)


def triage_question(max_width: Any, confidence_level: Any) -> Question:
    """Ask which rows are accepted by the width of their interval, and why others are not."""
    level = check_level(confidence_level, "accept and triage take")
    answer = partial(_triage, level=level, max_width=max_width)
    kind = IntervalTriage
    return Question("triage", answer, _triage_columns, kind=kind, typed=True, words=REASONS)


def _triage(fitted: Fitted, X: Array, level: float, max_width: Any) -> IntervalTriage:
    parts = fitted.parts(X)
    accepted = narrow(fitted, parts, level, max_width, X)
    reason = REASONS.take(to_numpy(reasons(parts, accepted)))
    mean = fitted.targets.shaped(mean_in_units(fitted, parts, X))
    interval = _interval(fitted, parts, Levels((level,), single=True), X)
    return IntervalTriage(mean, interval, accepted, reason)


def _triage_columns(answer: IntervalTriage) -> Columns:
    low, high = answer.interval[..., 0], answer.interval[..., 1]
    numbers = side_by_side({"mean": answer.mean, "lower": low, "upper": high})
    return {**numbers, "accepted": answer.accepted, "reason": answer.reason}


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
    outputs = range(parts.mean.shape[1])
    if fitted.symmetric:
        below = above = parts.total
        pairs = [(calibration.symmetric(level, j),) * 2 for j in outputs]
    else:
        below, above = parts.below, parts.above
        pairs = [calibration.tails(level, j) for j in outputs]
    z = place(np.asarray(pairs), X, namespace(X).float64)
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
