"""Targets that take few values, as ratings and settings of a machine do: bounds among these values.

What a model says between two values stands for the nearer one, so the quantiles of such a target
are values. A bound that moves to the nearest value gives up none that it covered. It covers more
than it says, so bounds move only where intervals of rows left out gain much by it: where values are
far apart beside the width of intervals, which are often a single value then.

Of counts with many zeros the two lowest values alone are taken: a lower bound of 0.1 leaves out
all zeros for a tenth of a step. In the fifth of the rows with the largest means, where lower
bounds rise above zero, 83 % of the goals of football teams were covered instead of 90.
"""

from typing import Any, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.sums.scaling import Scaling
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.tails import gains
from elmband.uncertainty.targets import Columns

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# What intervals must gain: a share of their score at this level, and so many standard errors.
LEVEL = 0.9
_LEAST_GAIN = 0.1
_ERRORS = 2.0
# All whole numbers up to this one are numbers in float32.
_WHOLE_IN_FLOAT32 = 2.0**24


def edges(values: tuple[float, ...]) -> Floats:
    """Return where numbers begin and end that are nearest to each of k values, (k + 1,).

    The first and the last value reach half a step outwards.
    """
    v = np.array(values)
    middle = v[:-1] + np.diff(v) / 2
    first, last = v[:1] - (v[1] - v[0]) / 2, v[-1:] + (v[-1] - v[-2]) / 2
    return np.concatenate([first, middle, last])


def outward(values: tuple[float, ...], dtype: Any, side: int) -> np.ndarray[Any, Any]:
    """Return values in a dtype; those that it may round move one step to their `side`, -1 or +1.

    A target that was rounded less shall not lie outside of its own value. Values may have been
    rounded before they came here, but small whole numbers never are.
    """
    rounded = np.array(values).astype(dtype)
    if rounded.dtype == np.float64 or side == 0:
        return rounded
    moved = np.nextafter(rounded, rounded.dtype.type(side * np.inf))
    exact = (rounded == np.rint(rounded)) & (np.abs(rounded) <= _WHOLE_IN_FLOAT32)
    out: np.ndarray[Any, Any] = np.where(exact, rounded, moved)
    return out


def nearest_values(bounds: Array, columns: Columns, side: int) -> Array:
    """Return bounds (n, m) of one side, those of outputs with few values among these.

    Bounds more than half a step beyond the first or the last value stay where they are.
    """
    xp = namespace(bounds)
    found = []
    for j, values in enumerate(columns):
        bound = bounds[:, j]
        if values:
            ends = place(edges(values), bound, xp.float64)
            cell = xp.sum(xp.astype(double(bound)[:, None] > ends[None, :], xp.int64), axis=1)
            inside = (cell > 0) & (cell <= len(values))
            table = place(outward(values, to_numpy(bound[:0]).dtype, side), bound, bound.dtype)
            bound = xp.where(inside, xp.take(table, xp.clip(cell - 1, 0, len(values) - 1)), bound)
        found.append(bound)
    return xp.stack(found, axis=1)


def gaining_values(
    columns: Columns,
    left_out: LeftOut,
    targets: Scaling,
    multipliers: list[float],
    within: Columns,
) -> Columns | None:
    """Return the values of outputs whose intervals gain by them, None where no output does.

    Rows left out have standardised targets, and intervals of so many standard deviations that stay
    `within` a range of every output.
    """
    if not any(columns):
        return None
    rows, scale = left_out.numpy(), to_numpy(double(targets.scale))
    variance, centre = to_numpy(rows.variance), to_numpy(double(targets.mean))
    kept: list[tuple[float, ...]] = []
    for j, values in enumerate(columns):
        mean, y = (part[:, j] * scale[j] + centre[j] for part in (rows.mean, rows.target))
        step = multipliers[j] * np.sqrt(variance[:, j]) * scale[j]
        low, high = within[j]
        ends = [np.clip(end, low, high) for end in (mean - step, mean + step)]
        if not values or not np.isfinite(ends).all():
            kept.append(())
            continue
        y = _moved(y, values)
        weights = to_numpy(rows.weights)
        if _gain(y, ends, values, weights, _ERRORS, _LEAST_GAIN):
            kept.append(values)
        elif _at_the_end(values, low) and _gain(y, ends, values[:2], weights, 0.0, 0.0):
            kept.append(values[:2])
        else:
            kept.append(())
    return tuple(kept) if any(kept) else None


def _at_the_end(values: tuple[float, ...], low: float) -> bool:
    """Tell whether bounds end at the least of more than two values."""
    return len(values) > 2 and values[0] == low


def _moved(bound: Floats, values: tuple[float, ...]) -> Floats:
    """Return bounds (n,), each at the nearest of some values."""
    moved: Floats = nearest_values(bound[:, None], (values,), 0)[:, 0]
    return moved


def _gain(
    y: Floats,
    ends: list[Floats],
    values: tuple[float, ...],
    weights: Floats,
    errors: float,
    least: float,
) -> bool:
    """Tell whether intervals gain enough if their ends move to the nearest of some values."""
    before, after = _score(y, *ends), _score(y, *(_moved(end, values) for end in ends))
    return gains((before - after) / np.average(before, weights=weights), weights, errors, least)


def _score(y: Floats, low: Floats, high: Floats) -> Floats:
    """Return the interval score of every row."""
    missed = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return high - low + 2 / (1 - LEVEL) * missed
