"""The effective number of weighted rows, and bounds for weights that outweigh all others.

Rows with weights s are worth (Σs)² / Σs² rows of equal weight (Kish), and rows of groups no more
than there are groups. Where a few rows have nearly all of the weight, a fit interpolates them:
their residuals vanish, and those of the other rows are lost in rounding.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Floats, place, to_numpy
from elmband.sums.rows import ArrayRows, Rows

Labels = np.ndarray[Any, Any] | None

# Weights are bounded where rows, or groups, have a smaller effective number than this; where they
# are few, than this share of them.
_LEAST_WORTH = 7
_LEAST_SHARE = 0.5
# Up to the first number of groups, groups are counted; from the second on, their rows. Chosen on
# artificial data of 2 to 20 groups of four rows whose means differ.
_FEW_GROUPS = (3, 6)
# Steps of the bisection for the logarithm of the largest weight.
_STEPS = 60


class Bounded(NamedTuple):
    """Rows with bounded weights, and how many rows or groups they are `worth` as given.

    Their scores count `factor` times.
    """

    rows: Rows
    worth: float
    factor: float


def effective_number(s: Floats, labels: Labels = None) -> float:
    """Return (Σs)² / Σs², over the mean weights of groups where rows have `labels`.

    >>> effective_number(np.array([1.0, 1.0, 1.0, 0.0]))
    3.0
    >>> round(effective_number(np.array([100.0, 1, 1, 1, 1, 1, 1, 1])), 2)
    1.14
    >>> effective_number(np.ones(6), np.array([0, 0, 0, 0, 0, 1]))
    2.0
    """
    units, _ = _of_units(s / s.max(), labels)
    return float(units.sum() ** 2 / (units @ units))


def bounded_weights(rows: Rows, labels: Labels = None) -> Bounded:
    """Bound the weights of rows in memory, or of groups, if a few outweigh all others.

    The bound is the largest that leaves an effective number of seven, or of half as many as there
    are. What is said of finite samples goes by the weights as given: scores count as many rows, or
    groups, as these are worth.
    """
    if not isinstance(rows, ArrayRows):
        # Counting them may need a pass; their effective number comes with their scores.
        return Bounded(rows, math.inf, 1.0)
    if rows.s is None and labels is None:
        return Bounded(rows, float(len(rows)), 1.0)
    given = np.ones(len(rows)) if rows.s is None else to_numpy(rows.s).astype(np.float64)
    units, owner = _of_units(given / given.max(), labels)
    least, worth = min(_LEAST_SHARE * len(units), _LEAST_WORTH), effective_number(units)
    count = _counted(effective_number(given), None if labels is None else worth)
    if worth >= least:
        return Bounded(rows, worth, count / effective_number(given))
    s = given * (np.minimum(units, _bound(units, least)) / units)[owner]
    bounded = ArrayRows(rows.X, rows.Y, place(s, rows.Y), rows.chunk_size)
    return Bounded(bounded, worth, count / effective_number(s))


def _counted(rows: float, groups: float | None) -> float:
    """Return the number of observations that rows count as, in groups that are left out together.

    Where groups are two or three, each is a single observation of how far off a model is for a new
    group; where they are many, their rows count as any others. The least is two: one row has no
    spread.
    """
    share = 0.0 if groups is None else float(np.interp(groups, _FEW_GROUPS, (1.0, 0.0)))
    return float(max(rows * ((groups or rows) / rows) ** share, 2.0))


def _bound(s: Floats, least: float) -> float:
    """Return the largest bound of weights that makes them worth `least` rows, by bisection."""
    low, high = np.log(s.min()), np.log(s.max())
    for _ in range(_STEPS):
        middle = (low + high) / 2
        enough = effective_number(np.minimum(s, np.exp(middle))) >= least
        low, high = (middle, high) if enough else (low, middle)
    return float(np.exp(low))


def _of_units(s: Floats, labels: Labels) -> tuple[Floats, Any]:
    """Return the weights of rows or groups, and which of them every row belongs to."""
    if labels is None:
        return s, np.arange(len(s))
    _, owner = np.unique(labels, return_inverse=True)
    owner = owner.reshape(-1)
    # Means, not sums: a group with many rows is still one group.
    return np.bincount(owner, s) / np.bincount(owner), owner
