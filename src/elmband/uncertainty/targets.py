"""What training targets say of targets to come: the range they stay in, how far a mean may go.

Targets that were never negative in many rows are taken for a kind that cannot be, such as counts
and prices, and targets between 0 and 1 for shares. No row, however far from the training rows, has
a mean much beyond the training targets: what lies beyond is taken back, and widens the interval.
"""

import math
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from elmband.ground.arrays import double, to_numpy
from elmband.sums.scaling import Extent
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.transform import TargetError, Transform

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
# Numbers of every output, as estimators keep them.
Columns: TypeAlias = tuple[tuple[float, ...], ...]
RangeChoice: TypeAlias = tuple[float | None, float | None] | str | None

# Rows from which on a range is believed: of fewer, all may be positive by chance.
LEAST_ROWS = 20
# Errors that a mean is taken over where targets are transformed.
_POINTS = 40


def smearing_points(left: LeftOut) -> Columns:
    """Return equally likely errors of rows left out, for every output."""
    errors, s = to_numpy(double(left.error)), to_numpy(double(left.weights))
    shares = (np.arange(_POINTS) + 0.5) / _POINTS
    columns = []
    for column in errors.T:
        order = np.argsort(column, kind="stable")
        cumulated = np.cumsum(s[order])
        places = np.searchsorted(cumulated, shares * cumulated[-1])
        columns.append(column[order][np.minimum(places, len(column) - 1)])
    return tuple(tuple(column.tolist()) for column in columns)


def found_range(ends: Extent, n_rows: int) -> Columns:
    """Return the range (low, high) that targets of every output cannot leave as it seems.

    >>> ends = Extent(np.array([5.0, 0.1, -2.0]), np.array([900.0, 0.8, 3.0]))
    >>> found_range(ends, 100)
    ((0.0, inf), (0.0, 1.0), (-inf, inf))
    """
    low, high = (to_numpy(double(end)) for end in (ends.low, ends.high))
    if n_rows < LEAST_ROWS:
        return ((-math.inf, math.inf),) * len(low)
    # Transformed back, a share of one may have been rounded.
    share = (low >= 0) & (high <= 1 + 1e-9)
    least = np.where(low >= 0, 0.0, -np.inf)
    greatest = np.where(share, 1.0, np.where(high <= 0, 0.0, np.inf))
    # Targets that are all zero tell nothing.
    some = high > low
    least, greatest = np.where(some, least, -np.inf), np.where(some, greatest, np.inf)
    return tuple(zip(least.tolist(), greatest.tolist(), strict=True))


def narrowed(ends: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, ...]:
    """Return what two ranges (low, high) have in common."""
    return max(ends[0], other[0]), min(ends[1], other[1])


def values_range(values: tuple[float, ...], ends: tuple[float, ...]) -> tuple[float, ...]:
    """Return the range that was found of few values, or other ends where these are not all.

    Two values without an end above are the lowest of more.
    """
    if not values or (len(values) == 2 and ends[1] == math.inf):
        return ends
    return found_range(Extent(np.array(values[:1]), np.array(values[-1:])), LEAST_ROWS)[0]


def ends_in_units(ends: Extent, transform: Transform) -> Extent:
    """Return the least and the greatest transformed targets in the units of y, each (m,)."""
    return Extent(*(transform.inverse(end[None, :])[0, :] for end in (ends.low, ends.high)))


def asked_range(
    choice: Any, transform: Transform, n_outputs: int, ends: Extent | None
) -> Columns | None:
    """Return the range that was given, None where none was; refuse targets that leave it."""
    if choice is None or is_auto(choice):
        return None
    found = given_range(choice, n_outputs)
    if ends is not None:
        low, high = (
            to_numpy(transform.inverse(double(end)[None, :]))[0] for end in (ends.low, ends.high)
        )
        check_within(found, low, high)
    return found


def given_range(choice: Any, n_outputs: int) -> Columns:
    """Check a range that a user gave, with None at an end where there is none."""
    ends = list(choice) if isinstance(choice, tuple | list | np.ndarray) else []
    numbers = [_end(end, side) for end, side in zip(ends, (-math.inf, math.inf), strict=False)]
    if len(ends) != 2 or None in numbers or not numbers[0] < numbers[1]:  # type: ignore[operator]
        raise ValueError(
            "target_range must be 'auto', None or a pair (low, high) of numbers, the lower first, "
            f"with None where there is no end, such as (0, None); got {choice!r}."
        )
    return ((numbers[0], numbers[1]),) * n_outputs  # type: ignore[return-value]


def is_auto(choice: Any) -> bool:
    """Tell whether a parameter is left to the data."""
    return isinstance(choice, str) and choice == "auto"


def check_within(ends: Columns, low: Floats, high: Floats) -> None:
    """Refuse a range that training targets, from `low` to `high` (m,), leave."""
    for (least, greatest), first, last in zip(ends, low.tolist(), high.tolist(), strict=True):
        # Transformed back, an end may have been rounded.
        slack = 1e-9 * max(abs(first), abs(last))
        if first < least - slack or last > greatest + slack:
            raise TargetError.of(
                "target_range",
                ",".join("" if math.isinf(end) else f"{end:g}" for end in (least, greatest)),
                told_range(((least, greatest),)),
                f"its values go from {first:g} to {last:g}",
                f"target_range goes from {least:g} to {greatest:g}, but y from {first:g} to "
                f"{last:g}; give a range that no training target leaves.",
            )


def _end(end: Any, none: float) -> float | None:
    if end is None:
        return none
    number = isinstance(end, Real) and not isinstance(end, bool) and not math.isnan(end)
    return float(end) if number else None


def told_range(ends: Columns) -> str:
    """Say in a few words what range targets stay in; nothing where there is none.

    >>> told_range(((0.0, math.inf),))
    'at or above 0'
    """
    parts = []
    for low, high in ends:
        if math.isinf(low) and math.isinf(high):
            parts.append("anywhere")
        elif math.isinf(high):
            parts.append(f"at or above {low:g}")
        elif math.isinf(low):
            parts.append(f"at or below {high:g}")
        else:
            parts.append(f"between {low:g} and {high:g}")
    return "" if set(parts) == {"anywhere"} else "; ".join(dict.fromkeys(parts))
