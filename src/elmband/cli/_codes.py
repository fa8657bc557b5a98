"""Columns of whole numbers that look like codes of categories, or like dates, in a sample of rows.

A quantity acts on the targets smoothly, as a rule: neighbouring numbers have like effects. Codes,
as those of regions or shops, are in no order. Whole numbers with 7 to 300 values, of 5 rows each
on average, are taken for codes if all of this holds for the means of the targets (as normal scores
of their ranks) by value:

1. They differ from a smooth curve by more than chance, which is a polynomial of the numbers, or of
   their ranks if that is closer: of degree 3, or 5 with more than 15 values. If they lie on such a
   curve, the F test of lack of fit is passed by chance in one of 10,000 tables, all of its columns
   together.
2. The curve leaves 15 % of the variance between values at least, without that of the noise.
3. Means of neighbouring values are not alike: the squares of their differences are 0.3 times those
   of any two values at least, without the noise. So an hour of the day with several peaks is none.
   Values count by their rows: the means of rare ones are mostly noise.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import f as f_distribution
from scipy.stats import rankdata

from elmband.cli._group_key import is_whole
from elmband.cli._head import Head
from elmband.ground.arrays import Array

_LEAST, _MOST, _ROWS_EACH = 7, 300, 5
_DEGREE, _WIDER, _MANY = 3, 5, 15
_CHANCE, _LEFT, _STEPS = 1e-4, 0.15, 0.3
# Columns that are looked at.
_WIDEST = 200
# Fewer different numbers may look like dates by chance.
_FEWEST_DATES = 5
_FIRST, _LAST = 18000101, 21991231


class Codes(NamedTuple):
    """A column of whole numbers that look like codes, and how many it holds in the sample."""

    name: str
    levels: int


def suspected_codes(head: Head) -> list[Codes]:
    """Return the columns of a sample that look like codes of categories."""
    y = head.targets()
    if y is None:
        return []
    y = ndtri((rankdata(y) - 0.5) / len(y))
    columns = {}
    for name in head.names[:_WIDEST]:
        x = head.numbers(head.column(name))
        if x is not None and could_be_codes(x):
            columns[name] = x
    return [
        Codes(name, len(np.unique(x[~np.isnan(x)])))
        for name, x in columns.items()
        if are_codes(x, y, _CHANCE / len(columns))
    ]


def could_be_codes(x: Array) -> bool:
    """Tell whether these are whole numbers of few values with several rows each."""
    known = x[~np.isnan(x)]
    values = np.unique(known)
    few = _LEAST <= len(values) <= min(_MOST, len(known) // _ROWS_EACH)
    return few and is_whole(values) and bool(values[0].is_integer())


def are_codes(x: Array, y: Array, chance: float) -> bool:
    """Tell whether numbers are codes, by the criterion of this file."""
    x, y = x[~np.isnan(x)], y[~np.isnan(x)]
    parts = (np.isfinite(x), x > x.min(), x < x.max())
    return all(_in_no_order(x[part], y[part], chance) for part in parts)


def _in_no_order(x: Array, y: Array, chance: float) -> bool:
    """Tell whether means of targets by value are no smooth curve.

    With L values of n_l rows, means m_l, the mean square W within values and a curve f of p
    parameters, the lack of fit is F = Σ n_l (m_l - f_l)² / ((L - p) W).
    """
    values, codes = np.unique(x, return_inverse=True)
    L, n = len(values), len(x)
    counts = np.bincount(codes).astype(np.float64)
    means = np.bincount(codes, y) / counts
    within = max(float(((y - means[codes]) ** 2).sum()) / (n - L), 1e-300)
    p = 1 + (_WIDER if L > _MANY else _DEGREE)
    lack = min(_lack(axis, means, counts, p) for axis in (values, np.arange(L)))
    if f_distribution.sf(lack / (L - p) / within, L - p, n - L) >= chance:
        return False
    between = float(counts @ (means - y.mean()) ** 2) - (L - 1) * within
    if lack - (L - p) * within < _LEFT * between:
        return False
    # Of a difference of means by the inverse of its noise, and of the means by their rows.
    noise = within / counts[1:] + within / counts[:-1]
    steps = float(np.average(np.diff(means) ** 2 - noise, weights=1 / noise))
    return steps >= _STEPS * 2 * between / (n - float(counts @ counts) / n)


def _lack(axis: Array, means: Array, counts: Array, p: int) -> float:
    """Return what a polynomial leaves of means, by weight."""
    scaled = 2 * (axis - axis[0]) / (axis[-1] - axis[0]) - 1
    root = np.sqrt(counts)
    X = np.polynomial.chebyshev.chebvander(scaled, p - 1) * root[:, None]
    solution = np.linalg.lstsq(X, root * means, rcond=None)[0]
    return float(((root * means - X @ solution) ** 2).sum())


def suspected_dates(head: Head) -> Iterator[tuple[str, int]]:
    """Yield the columns of a sample that look like dates, each with one of its numbers."""
    for name in head.names:
        x = head.numbers(head.column(name))
        if x is not None and look_like_dates(x):
            yield name, int(x[~np.isnan(x)][0])


def look_like_dates(x: Array) -> bool:
    """Tell whether all numbers are a year, a month and a day.

    >>> look_like_dates(np.array([20140131, 20140228, 20131105, 20131231, 20140401, np.nan]))
    True
    >>> look_like_dates(np.arange(20140101.0, 20140199.0))
    False
    """
    values = np.unique(x[~np.isnan(x)])
    if len(values) < _FEWEST_DATES or values[0] < _FIRST or values[-1] > _LAST:
        return False
    month, day = values // 100 % 100, values % 100
    whole = bool((values % 1 == 0).all())
    return whole and bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())
