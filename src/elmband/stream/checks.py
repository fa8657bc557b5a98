"""Values that no model can learn from: missing, infinite, or a negative weight."""

from collections.abc import Sequence

import numpy as np

from elmband._arrays import Array
from elmband.stream.layout import Key, Layout
from elmband.stream.selection import Selection


def check_values(layout: Layout, first: int, selection: Selection, rows: Sequence[Array]) -> None:
    """Refuse rows with values that are not finite, or with a negative weight.

    `rows` are features, targets and weights, (n, columns) each, and `first` is the place of their
    first row in the file or piece that `layout` describes.
    """
    weight = () if selection.weight is None else (selection.weight,)
    for keys, values in zip((selection.features, selection.targets, weight), rows, strict=True):
        if not _all_finite(values):
            _refuse_missing(layout, first, keys, values)
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


def _refuse_missing(layout: Layout, first: int, keys: Sequence[Key], values: Array) -> None:
    missing, infinite = np.isnan(values), np.isinf(values)
    j = int(np.argmax((missing | infinite).any(axis=0)))
    kind, where = ("missing", missing) if missing[:, j].any() else ("infinite", infinite)
    count = int(np.count_nonzero(where[:, j]))
    raise ValueError(
        f"{_place(layout, first, values)}: {layout.column(keys[j])} holds {count} {kind} "
        f"{_values(count)}; fill them in, or leave out these rows or that column."
    )


def _place(layout: Layout, first: int, values: Array) -> str:
    return f"{layout.label}, rows {first} to {first + len(values) - 1}"


def _values(count: int) -> str:
    return "value" if count == 1 else "values"
