"""Columns of whole numbers such as 20140131, which are dates in the eyes of people."""

from collections.abc import Iterator

import numpy as np

from elmband.cli._head import Head
from elmband.ground.arrays import Array

# Fewer different numbers may look like dates by chance.
_LEAST = 5
_FIRST, _LAST = 18000101, 21991231


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
    if len(values) < _LEAST or values[0] < _FIRST or values[-1] > _LAST:
        return False
    month, day = values // 100 % 100, values % 100
    whole = bool((values % 1 == 0).all())
    return whole and bool(((month >= 1) & (month <= 12) & (day >= 1) & (day <= 31)).all())
