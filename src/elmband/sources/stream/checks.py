"""Values that cannot be: missing or infinite ones, a negative weight, half a row."""

from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.stream.layout import Key, Layout
from elmband.sources.stream.selection import Selection

# What to do with missing values, besides filling them in.
_ADVICE = "leave out these rows or that column"
_OF_TARGETS = "leave out these rows with missing_target='drop'"


def check_values(
    layout: Layout,
    first: int,
    selection: Selection,
    rows: Sequence[Array],
    *,
    gaps: bool = False,
) -> None:
    """Refuse rows with values that are not finite, or with a negative weight.

    `rows` are features, targets and weights, (n, columns) each, and `first` is the place of their
    first row in the file or piece that `layout` describes. Targets may have `gaps`, and those of
    rows of weight 0 may be anything: such rows are as good as not there.
    """
    X, Y, s = rows
    if s.shape[1] and not _all_finite(Y):
        Y = np.where(s == 0, 0.0, Y)
    advice = (_ADVICE, _OF_TARGETS, _ADVICE)
    roles = zip(selection.roles, (X, Y, s), (False, gaps, False), advice, strict=True)
    for keys, values, fine, what_to_do in roles:
        if not _all_finite(values) and (not fine or np.isinf(values).any()):
            _refuse_missing(layout, first, keys, values, what_to_do, gaps=fine)
    weight = selection.roles[2]
    if weight and rows[2].min() < 0:
        count = int(np.count_nonzero(rows[2] < 0))
        raise ValueError(
            f"{_place(layout, first, rows[2])}: {layout.column(weight[0])} holds {count} negative "
            f"{_values(count)}; a weight counts how often a row is there."
        )


def _all_finite(values: Array) -> bool:
    """Look at the sum first, which takes a fraction of the time; it may overflow."""
    with np.errstate(all="ignore"):
        return bool(np.isfinite(values.sum())) or bool(np.isfinite(values).all())


def _refuse_missing(
    layout: Layout, first: int, keys: Sequence[Key], values: Array, advice: str, *, gaps: bool
) -> None:
    missing, infinite = np.isnan(values) & (not gaps), np.isinf(values)
    j = int(np.argmax((missing | infinite).any(axis=0)))
    kind, where = ("missing", missing) if missing[:, j].any() else ("infinite", infinite)
    count = int(np.count_nonzero(where[:, j]))
    raise ValueError(
        f"{_place(layout, first, values)}: {layout.column(keys[j])} holds {count} {kind} "
        f"{_values(count)}; fill them in, or {advice if kind == 'missing' else _ADVICE}."
    )


def _place(layout: Layout, first: int, values: Array) -> str:
    return f"{layout.label}, rows {first} to {first + len(values) - 1}"


def _values(count: int) -> str:
    return "value" if count == 1 else "values"


def whole(value: Any, name: str, least: int) -> int:
    """Return a whole number of at least `least`."""
    try:
        whole = least - 1 if isinstance(value, bool) else index(value)
    except TypeError:
        whole = least - 1
    if whole < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return whole
