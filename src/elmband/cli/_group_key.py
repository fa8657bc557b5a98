"""A column that looks like the key of groups, such as a patient, found in a sample of the rows.

A column of text or of whole numbers, centred or not, is taken for such a key if all of this holds
in a sample of at most 10,000 rows, spread evenly over the first 131,072:

1. It has 10 levels at least, with 3 rows each or more on average.
2. Targets are alike within levels: their intraclass correlation (ICC), the share of the variance
   that lies between levels, is 0.2 at least, and chance alone would give less in all but one of a
   million tables (F test).
3. Either (a) two other columns at least are constant within levels, as the age and the sex of a
   patient are; or (b) there are 20 levels at least, and what a linear model of the other columns
   leaves of the targets has an ICC of 0.5 at least.
4. The order of the levels tells nothing, neither of those constants in (a) nor of the means of
   targets in (b). An hour or an age, by which targets go up and down, is a number and no key.

Airports whose delays differ little fail 2, a brand that prices depend on in part fails 3. Of
several keys those by (a) come first, and of these the one with the fewest levels: the others lie
within it.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy.stats import f as f_distribution

from elmband.cli._head import Head, head_of
from elmband.ground.arrays import Array
from elmband.sources.encode.raw import Numbers, Raw, Times

_LEVELS, _LEVELS_ALONE, _ROWS_EACH = 10, 20, 3
_ALIKE, _ALIKE_ALONE, _CHANCE = 0.2, 0.5, 1e-6
_CONSTANTS = 2
# Changes between neighbouring levels, and their squared steps, as shares of what random order has.
_RANDOM_CHANGES, _RANDOM_STEPS = 0.5, 0.5
# Of whole numbers from which something was taken off.
_ROUNDING = 1e-3
# Columns that are looked at, and levels of text that a linear model gets.
_WIDEST, _DUMMIES = 200, 20


class GroupKey(NamedTuple):
    """A column that looks like the key of groups, and its levels in the sample."""

    name: str
    levels: int


class _Column(NamedTuple):
    """Codes of levels in their order, how many there are, and whether they could be a key."""

    codes: Array
    n_levels: int
    could_be_key: bool
    features: Array


def group_key(rows: Any) -> GroupKey | None:
    """Return the column of a scan that looks like the key of groups, or None."""
    head = head_of(rows)
    columns = {}
    for name in head.names[:_WIDEST]:
        column = _column(head, head.column(name))
        if column is not None:
            columns[name] = column
    target = head.targets()
    if target is None or len(target) < _LEVELS * _ROWS_EACH:
        return None
    constants = {name: _constants(name, columns) for name in columns}
    keys = [
        GroupKey(name, columns[name].n_levels)
        for name in columns
        if _is_key(name, columns, constants[name], target)
    ]
    return min(
        keys, key=lambda key: (-min(constants[key.name], _CONSTANTS), key.levels), default=None
    )


def _column(head: Head, raws: list[Raw] | None) -> _Column | None:
    """Return the levels of a column in a sample, and features for a linear model."""
    values = head.words(raws)
    if values is not None:
        levels, codes = np.unique(values, return_inverse=True)
        frequent = np.argsort(-np.bincount(codes), kind="stable")[:_DUMMIES]
        dummies = (codes[:, None] == frequent).astype(np.float64)
        return _Column(codes, len(levels), could_be_key=True, features=dummies)
    if raws is None or not all(isinstance(raw, Numbers | Times) for raw in raws):
        return None
    numbers = np.concatenate([_numbers(raw) for raw in raws])[head.keep]
    known = np.where(np.isnan(numbers), np.inf, numbers)
    levels, codes = np.unique(known, return_inverse=True)
    whole = all(isinstance(raw, Numbers) for raw in raws) and is_whole(levels)
    mean = numbers[np.isfinite(numbers)].mean() if np.isfinite(numbers).any() else 0.0
    features = np.where(np.isnan(numbers), mean, numbers)[:, None]
    return _Column(codes, len(levels), could_be_key=whole, features=features)


def is_whole(levels: Array) -> bool:
    """Tell whether numbers are whole, or were before something was taken off all of them."""
    steps = levels - levels[0]
    return bool(
        np.isfinite(steps).all() and np.allclose(steps, np.round(steps), rtol=0, atol=_ROUNDING)
    )


def _numbers(raw: Any) -> Array:
    values = raw.values
    return values if values.dtype.kind == "f" else values.astype(np.int64).astype(np.float64)


def _constants(name: str, columns: dict[str, _Column]) -> int:
    """Return how many columns are constant within the levels of one."""
    key = columns[name]
    if not key.could_be_key or not _has_rows(key):
        return 0
    return sum(_is_constant(column, key) for other, column in columns.items() if other != name)


def _has_rows(key: _Column) -> bool:
    return key.n_levels >= _LEVELS and len(key.codes) >= _ROWS_EACH * key.n_levels


def _is_key(name: str, columns: dict[str, _Column], constants: int, y: Array) -> bool:
    """Tell whether a column is the key of groups, by the criterion of this file."""
    key = columns[name]
    if not key.could_be_key or not _has_rows(key):
        return False
    if not _alike(y, key, _ALIKE):
        return False
    if constants >= _CONSTANTS:
        return True
    if key.n_levels < _LEVELS_ALONE:
        return False
    others = [column for other, column in columns.items() if other != name]
    left = _residuals(y, [column.features for column in others])
    return _alike(left, key, _ALIKE_ALONE) and not _in_order(left, key)


def _alike(y: Array, key: _Column, least: float) -> bool:
    """Tell whether values are alike within levels, by their ICC and an F test.

    With the mean squares B between and W within L levels of n rows, and n₀ = (n − Σ n_l² / n) /
    (L − 1) rows a level, ICC = (B − W) / (B + (n₀ − 1) W), and B / W is an F(L − 1, n − L) if
    values do not depend on levels.
    """
    counts, means = _means(y, key)
    n, L = len(y), key.n_levels
    between = float(counts @ (means - y.mean()) ** 2) / (L - 1)
    within = float(((y - means[key.codes]) ** 2).sum()) / (n - L)
    each = (n - float(counts @ counts) / n) / (L - 1)
    if between <= within * (1 + 1e-9):
        return False
    icc = (between - within) / (between + (each - 1) * within)
    return icc >= least and bool(
        f_distribution.sf(between / max(within, 1e-300), L - 1, n - L) < _CHANCE
    )


def _means(y: Array, key: _Column) -> tuple[Array, Array]:
    counts = np.bincount(key.codes, minlength=key.n_levels).astype(np.float64)
    return counts, np.bincount(key.codes, y, key.n_levels) / counts


def _is_constant(column: _Column, key: _Column) -> bool:
    """Tell whether a column has one value within each level, other ones beside it, in no order."""
    if not 1 < column.n_levels <= key.n_levels:
        return False
    low, high = np.full(key.n_levels, column.n_levels), np.full(key.n_levels, -1)
    np.minimum.at(low, key.codes, column.codes)
    np.maximum.at(high, key.codes, column.codes)
    if (low < high).any():
        return False
    shares = np.bincount(low) / key.n_levels
    random = (key.n_levels - 1) * (1 - float(shares @ shares))
    return int(np.count_nonzero(np.diff(low))) >= _RANDOM_CHANGES * random


def _in_order(y: Array, key: _Column) -> bool:
    """Tell whether means of neighbouring levels are closer than those of any two levels."""
    means = _means(y, key)[1]
    steps = float((np.diff(means) ** 2).mean())
    return steps < _RANDOM_STEPS * 2 * float(means.var())


def _residuals(y: Array, features: list[Array]) -> Array:
    """Return what a linear model leaves of the targets."""
    X = np.column_stack([np.ones((len(y), 1)), *features])
    scale = np.abs(X).max(axis=0)
    X = X / np.where(scale > 0, scale, 1)
    # A little ridge: columns may be copies of each other.
    gram = X.T @ X + 1e-8 * len(y) * np.eye(X.shape[1])
    left: Array = y - X @ np.linalg.solve(gram, X.T @ y)
    return left
