"""Views of standardised inputs as operators."""

from typing import NamedTuple

import numpy as np

from elmband.ground.arrays import to_numpy
from elmband.layers.views import BEND, FAR, Columns, RankScores, SoftClip, View
from elmband.models.onnx_export._graph import DOUBLE, Tensor, where


def viewed(Z: Tensor, view: View) -> Tensor:
    """Return what neurons see of standardised rows Z (n, d)."""
    return _clipped(Z, view) if isinstance(view, SoftClip) else _ranked(Z, view)


def _clipped(Z: Tensor, view: SoftClip) -> Tensor:
    R = ((Z - view.centre) / view.width).apply("Max", -FAR).apply("Min", FAR)
    bent = R / BEND
    bent = R / (bent * bent + 1.0).apply("Sqrt")
    standard: Tensor = (bent - view.mean) / view.spread
    return standard


class _Lines(NamedTuple):
    """Lines y + slope (z - x), one below all knots of a column and one from every knot on.

    All are (2^b, d). The first knots are (2^b - 1, d), the last of them repeated or infinite.
    """

    knots: Columns
    x: Columns
    y: Columns
    slope: Columns

    @property
    def first_step(self) -> int:
        """Half the number of lines."""
        return len(self.x) // 2


def _lines(view: RankScores) -> _Lines:
    """Return the lines that the scores of a view are made of."""
    knots, scores = (to_numpy(part).astype(DOUBLE) for part in (view.knots, view.scores))
    rise = (scores[-1] - scores[0]) / (knots[-1] - knots[0])
    steps = np.diff(knots, axis=0)
    inner = np.diff(scores, axis=0) / np.where(steps > 0, steps, 1.0)
    more = 2 ** len(knots).bit_length() - 1 - len(knots)

    def ended(lines: Columns) -> Columns:
        return np.concatenate([lines, np.repeat(lines[-1:], more, axis=0)])

    return _Lines(
        knots=np.pad(knots, ((0, more), (0, 0)), constant_values=np.inf),
        x=ended(np.concatenate([knots[:1], knots])),
        y=ended(np.concatenate([scores[:1], scores])),
        slope=ended(np.concatenate([rise[None], inner, rise[None]])),
    )


def _ranked(Z: Tensor, view: RankScores) -> Tensor:
    """Return the scores of rows: each number looks its line up, halving those that are left.

    For 33 knots that is six comparisons. All in between is (n, d), whereas a comparison with all
    knots at once would be (n, d, 33), and a sum over lines three times as many operations. In
    float64 as in Python, where knots of float32 may be close.
    """
    lines, z = _lines(view), Z.to(DOUBLE)
    d = lines.x.shape[1]
    step = lines.first_step
    columns = Z.whole(*range(d))
    # Where the number of a line and its column are in a table.
    at = where(z < lines.knots[step - 1], columns, columns + d * step)
    while step > 1:
        step //= 2
        knots = _looked_up(at + d * (step - 1), lines.knots)
        at = where(z < knots, at, at + d * step)
    x, y, slope = (_looked_up(at, table) for table in (lines.x, lines.y, lines.slope))
    return ((z - x) * slope + y).to(Z.dtype)


def _looked_up(at: Tensor, table: Columns) -> Tensor:
    """Return the numbers at places of a table, row by row."""
    return at.graph.constant(table.reshape(-1)).apply("Gather", at, axis=0)
