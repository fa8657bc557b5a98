"""Coverage level by level and group by group."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elmband.ground.arrays import Floats
from elmband.metrics.checks import check_levels, judge, numbers, require, weighted_mean


class CalibrationCurve(NamedTuple):
    """Nominal levels and the coverage observed at each, both (k,)."""

    expected: Floats
    observed: Floats


def calibration_curve(
    y_true: Any, intervals: Any, *, confidence_levels: Any, sample_weight: Any = None
) -> CalibrationCurve:
    """Coverage at each of k levels, for `intervals` of shape (n, 2, k) or (n, m, 2, k).

    Examples
    --------
    >>> intervals = [[[-1, -2], [1, 2]], [[-1, -2], [1, 2]]]
    >>> calibration_curve([0.0, 1.5], intervals, confidence_levels=[0.5, 0.9])
    CalibrationCurve(expected=array([0.5, 0.9]), observed=array([0.5, 1. ]))
    """
    levels = check_levels("confidence_levels", confidence_levels, ndims=(1,))
    weight, _, _, miss = judge(y_true, intervals, sample_weight, levels.shape)
    return CalibrationCurve(levels, weighted_mean(miss == 0, weight).mean(axis=0))


def miscalibration_area(expected: Any, observed: Any) -> float:
    """Area between the calibration curve and the diagonal, at most 1/2 for a rising curve.

    The curve is linear between its points, taken in order of `expected`, and runs from (0, 0) to
    (1, 1). A piece of length h that is a and b off the diagonal at its ends adds
    ``h * (|a| + |b|) / 2``, less ``h * |a * b| / (|a| + |b|)`` if it crosses the diagonal.

    Examples
    --------
    >>> miscalibration_area([0.25, 0.75], [0.5, 0.5])
    0.125
    """
    x = numbers("expected", expected)
    y = numbers("observed", observed, x.shape)
    ok = x.ndim == 1 and x.size and (np.abs(np.concatenate([x, y]) - 0.5) <= 0.5).all()
    require(ok, "expected and observed must be lists of shares from 0 to 1: see calibration_curve")
    order = np.argsort(x, kind="stable")
    x, y = (np.concatenate([[0.0], v[order], [1.0]]) for v in (x, y))
    a, b = (y - x)[:-1], (y - x)[1:]
    total = np.abs(a) + np.abs(b)
    crossing = np.divide(-2 * a * b, total, out=np.zeros_like(total), where=a * b < 0)
    return float(np.diff(x) @ (total - crossing) / 2)


class GroupCoverage(NamedTuple):
    """Coverage and number of rows in each group, in sorted order of the groups."""

    groups: NDArray[Any]
    coverage: Floats
    count: NDArray[np.intp]  # type: ignore[assignment]  # hides tuple.count, which nobody needs


def coverage_by_group(
    y_true: Any, interval: Any, groups: Any, *, sample_weight: Any = None
) -> GroupCoverage:
    """Share of targets inside their interval for each label in `groups`, which is (n,).

    Examples
    --------
    >>> coverage_by_group([1.0, 2.0, 9.0], [[0, 4], [0, 4], [0, 4]], [7, 3, 7])
    GroupCoverage(groups=array([3, 7]), coverage=array([1. , 0.5]), count=array([1, 2]))
    """
    weight, _, _, miss = judge(y_true, interval, sample_weight)
    labels, shape = np.asarray(groups), np.shape(y_true)[:1]
    fits = labels.shape == shape
    require(fits, f"groups has shape {labels.shape}, expected {shape}: give one label per row")
    used = slice(None) if sample_weight is None else np.asarray(sample_weight) > 0
    try:
        names, code = np.unique(labels[used], return_inverse=True)
        missing = np.not_equal(names, names).any()
    except TypeError:  # None, pd.NA and labels of several types do not sort
        missing = True
    require(not missing, "groups holds missing labels or mixes types: fill or convert them")
    return _coverage_by(names, code[:, np.newaxis], miss == 0, weight)


def coverage_by_width(
    y_true: Any, interval: Any, *, n_bins: int = 5, sample_weight: Any = None
) -> GroupCoverage:
    """Share of targets inside their interval, from the narrowest intervals to the widest.

    Rows are ranked by width, equal widths in the order given, and cut by rank into `n_bins` bins
    whose row counts differ by one at most, whatever the weights. Group 0 is the narrowest; each
    output is ranked by itself. Intervals that adapt as they should cover alike in every bin.

    Examples
    --------
    >>> coverage_by_width([0.0, 3.0, 0.0, 0.0], [[0, 1], [0, 2], [0, 3], [0, 4]], n_bins=2)
    GroupCoverage(groups=array([0, 1]), coverage=array([0.5, 1. ]), count=array([2, 2]))
    """
    weight, _, width, miss = judge(y_true, interval, sample_weight)
    n = len(weight)
    fits = n_bins in range(1, n + 1)
    require(fits, f"n_bins is {n_bins}, expected a whole number from 1 to the row count, {n}")
    order = np.argsort(width, axis=0, kind="stable")
    code = np.argsort(order, axis=0) * int(n_bins) // n
    return _coverage_by(np.arange(int(n_bins)), code, miss == 0, weight)


def _coverage_by(names: Any, code: Any, inside: Any, weight: Floats) -> GroupCoverage:
    """Return the coverage of each group; code, (n, 1) or (n, m), holds positions in names."""
    shape = (inside.shape[1], len(names))
    cell = (code + len(names) * np.arange(shape[0])).ravel()
    sums = [
        np.bincount(cell, (weight[:, np.newaxis] * values).ravel(), shape[0] * shape[1])
        for values in (inside, np.ones_like(inside))
    ]
    coverage = (sums[0] / sums[1]).reshape(shape).mean(axis=0)
    return GroupCoverage(names, coverage, np.bincount(code[:, 0]))
