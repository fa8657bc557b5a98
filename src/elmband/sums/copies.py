"""Copies of rows in memory: equal inputs and targets, which are left out together.

If one of two copies is left out, the fit still knows its target from the other. So copies become
one row with the sum of their weights. Where inputs take few values, as categories do, equal rows
are different observations and stay apart. Rows that are read in chunks cannot be compared in flat
memory.
"""

from typing import Any

import numpy as np

from elmband.ground.arrays import Array, Keys, namespace, place, to_numpy
from elmband.sums.moments import Chunk
from elmband.sums.sample import mixed

# Inputs take few values where equal ones have on average more different targets than this, or are
# shared by more rows than this.
_FEW_VALUES = 2
_MANY_ROWS = 10
# Columns that are compared at once: rows that differ in these need not be looked at again.
_COLUMNS = 16
_ODD = np.uint64(0x9E3779B97F4A7C15)


def takes_few_values(rows: int, pairs: int, inputs: int) -> bool:
    """Tell categories from copies, by the numbers of all rows, different rows and different inputs.

    Copies have equal targets as well, except for a few.
    """
    most_differ = pairs > _FEW_VALUES * inputs
    return most_differ or inputs == 1 or (pairs > inputs and rows > _MANY_ROWS * inputs)


def merged_copies(rows: Chunk) -> Chunk:
    """Return each row once, with the weights of its copies added up, in the order of the first.

    Rows are returned as they are where there are no copies, or where inputs take few values.
    """
    xp, n = namespace(rows.X), int(rows.X.shape[0])
    keys = _keys(rows.X, _keys(rows.Y, np.zeros(n, dtype=np.uint64)))
    names, first, owner = np.unique(keys, return_index=True, return_inverse=True)
    if len(names) == n:
        return rows
    inputs = len(np.unique(_keys(rows.X, np.zeros(n, dtype=np.uint64))))
    if takes_few_values(n, len(names), inputs):
        return rows
    total = np.bincount(owner.reshape(-1), None if rows.s is None else to_numpy(rows.s))
    order = np.argsort(first)
    where = place(first[order], rows.X, xp.int64)
    X, Y = (xp.take(a, where, axis=0) for a in (rows.X, rows.Y))
    return Chunk(X, Y, place(total[order], Y, Y.dtype))


def _keys(values: Array, keys: Keys) -> Keys:
    """Return keys of rows: equal where the keys given and the values (n, d) are equal.

    Only rows that are equal to others so far are looked at further, a few columns at a time: rows
    with numbers of their own soon tell themselves apart, at the price of a sort.
    """
    xp = namespace(values)
    keys = keys.copy()
    width = int(values.shape[1])
    for start in range(0, width, _COLUMNS):
        shared = _shared(keys)
        if not len(shared):
            break
        columns = values[:, start : min(start + _COLUMNS, width)]
        if len(shared) < len(keys):
            columns = xp.take(columns, place(shared, values, xp.int64), axis=0)
        keys[shared] = _hashed(keys[shared], to_numpy(columns))
    return keys


def _shared(keys: Keys) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return the positions of keys that occur more than once."""
    ordered = np.sort(keys)
    repeated = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
    if not len(repeated):
        return np.empty(0, dtype=np.int64)
    places = np.minimum(np.searchsorted(repeated, keys), len(repeated) - 1)
    return np.flatnonzero(repeated[places] == keys)


def _hashed(keys: Keys, columns: np.ndarray[Any, Any]) -> Keys:
    """Return 64 bits of a key and of the exact values of some columns, for every row."""
    for column in columns.T:
        # Adding zero makes one of both zeros.
        keys = mixed(keys * _ODD ^ (column.astype(np.float64) + 0.0).view(np.uint64))
    return keys
