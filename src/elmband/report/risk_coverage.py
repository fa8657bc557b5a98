"""The risk-coverage curve: what answering only the most certain rows does, share by share."""

from collections.abc import Callable
from typing import Any

import numpy as np

from elmband.report.tallies import Cells

# Where the slider stands at first.
_START = 0.7
# Points of fewer rows are left out: their error is mostly chance.
_LEAST_ROWS = 10


def risk_coverage(
    steps: Cells,
    n: float,
    told: Callable[[int, list[float]], dict[str, Any]],
    start: float | None = None,
) -> dict[str, Any]:
    """Return a point for every step of certainty, and the one where the slider stands at first.

    The first value of each of the `steps` is its number of rows, of `n` in all. `told` turns the
    number of a step, and the sums over all rows up to it, into what is told of a point. The slider
    begins at the share `start` of rows, or at 70 %.
    """
    sums = np.cumsum(steps.sums, axis=0)
    points: list[dict[str, Any]] = []
    for k, so_far in enumerate(sums.tolist()):
        rows = so_far[0]
        if steps.sums[k, 0] == 0 or rows < min(_LEAST_ROWS, n):
            continue
        where = {"at": len(points), "share": rows / n, "n": round(rows), "rest": round(n - rows)}
        points.append(where | told(k, so_far))
    wanted = _START if start is None else start
    first = min(points, key=lambda point: abs(point["share"] - wanted), default=None)
    return {"points": points, "start": first}
