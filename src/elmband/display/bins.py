"""Many rows as the means of few bins."""

from typing import NamedTuple

import numpy as np

from elmband.ground.arrays import Floats


class Binned(NamedTuple):
    """Means of x (b,) and of values (b, k) in bins, in order of x, and rows of each bin (b,)."""

    x: Floats
    means: Floats
    rows: Floats


def binned(x: Floats, values: Floats, bins: int | None) -> Binned:
    """Take means of rows that are next to each other, in bins of nearly as many rows.

    Rows with the same x share a bin. There are no more than `bins`, and one for each x where there
    are no more of these, or where `bins` is None.
    """
    order = np.argsort(x, kind="stable")
    x, values = x[order], values[order]
    fresh = np.diff(x, prepend=-np.inf) > 0
    starts = np.flatnonzero(fresh)
    if bins is not None and len(starts) > bins:
        edges = np.arange(bins) * len(x) // bins
        # The first row of each x at or before an edge.
        starts = np.unique(starts[np.searchsorted(starts, edges, side="right") - 1])
    count = np.diff(starts, append=len(x)).astype(np.float64)
    sums = np.add.reduceat(np.column_stack([x, values]), starts, axis=0)
    means = sums / count[:, None]
    return Binned(means[:, 0], means[:, 1:], count)
