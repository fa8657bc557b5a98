"""The scores of an evaluation, as a value that prints itself as a table."""

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elmband.ground.wording import percent_exactly

# A float, or an array over outputs where there are several.
Number: TypeAlias = float | NDArray[np.float64]
Line: TypeAlias = tuple[str, ...]


class LevelEvaluation(NamedTuple):
    """How honest and how sharp the intervals of one level are."""

    confidence_level: float
    coverage: Number
    mean_width: Number
    nmpiw: Number
    interval_score: Number


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores of predictions and their intervals.

    For one output each score is a float, for several an array of one number for each. NMPIW and
    R² are NaN for targets that are all the same, NLL where a standard deviation is 0.

    Attributes
    ----------
    n : float
        Number of rows, each counted as often as its weight says.
    rmse, mae, r2 : float or array of shape (m,)
        Errors of the mean.
    nll : float or array of shape (m,)
        Negative log likelihood of a normal distribution with this mean and standard deviation.
    levels : tuple of LevelEvaluation
        Scores of the intervals, level by level.
    """

    n: float
    rmse: Number
    mae: Number
    r2: Number
    nll: Number
    levels: tuple[LevelEvaluation, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as floats, lists and dictionaries."""
        scores = {name: _plain(getattr(self, name)) for name in ("n", "rmse", "mae", "r2", "nll")}
        levels = [{k: _plain(v) for k, v in level._asdict().items()} for level in self.levels]
        return {**scores, "levels": levels}

    def __repr__(self) -> str:
        scores = (f"{name}={_short(getattr(self, name))}" for name in ("rmse", "mae", "r2", "nll"))
        bands = [
            f"coverage {_short(level.coverage)} at {percent_exactly(level.confidence_level)}"
            for level in self.levels[:3]
        ]
        more = [f"... {len(self.levels) - 3} more"] if len(self.levels) > 3 else []
        return f"Evaluation(n={_count(self.n)}, {', '.join([*scores, *bands, *more])})"

    def __str__(self) -> str:
        head = ("output",) if np.ndim(self.rmse) else ()
        points: list[Line] = [("rows", *head, "RMSE", "MAE", "R²", "NLL")]
        points += _lines(_count(self.n), self.rmse, self.mae, self.r2, self.nll)
        bands: list[Line] = [("level", *head, "coverage", "mean width", "NMPIW", "interval score")]
        for level in self.levels:
            bands += _lines(percent_exactly(level.confidence_level), *level[1:])
        return f"{_table(points)}\n\n{_table(bands)}"


def _plain(value: Number) -> Any:
    return np.asarray(value).tolist()


def _short(value: Number) -> str:
    """Write a score, or the least and the largest of several outputs."""
    low, high = (f"{end:.3g}" for end in (np.min(value), np.max(value)))
    return low if np.ndim(value) == 0 else f"{low}..{high}"


def _count(n: float) -> str:
    return f"{n:,.0f}" if n == round(n) else f"{n:,.2f}"


def _lines(name: str, *scores: Number) -> list[Line]:
    """Return a line of a table for each output, with its number where there are several."""
    lines = zip(*(np.atleast_1d(score) for score in scores), strict=True)
    several = np.ndim(scores[0]) > 0
    return [
        (name, *([str(i)] if several else []), *("-" if np.isnan(s) else f"{s:.4g}" for s in line))
        for i, line in enumerate(lines)
    ]


def _table(lines: list[Line]) -> str:
    """Align the cells of every column to the right."""
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    )
