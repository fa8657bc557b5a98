"""Views of standardised inputs: monotone maps of single columns, learned from a sample of rows.

Neurons see inputs as they are (standardised), softly clipped, or as normal scores of their ranks.
None of these is best for all data: heavy tails need one of the last two, and where distances count
as they are the first is needed. Layers of all three compete by what they predict for rows left out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeAlias

import numpy as np
from scipy.special import ndtri

from elmband.ground.arrays import Array, cast, namespace, place, to_numpy

Columns: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

STANDARD, CLIPPED, RANKED = "standard", "clipped", "ranked"

# Knots of a column of ranks, at most: between them scores are linear.
_KNOTS = 33
# A clipped column bends at so many robust standard deviations, and is flat beyond so many.
BEND = 3.0
FAR = 1e9
# The quartiles of a normal distribution lie so many standard deviations apart.
_QUARTILES = 1.349
# The values of a column of a view lie at most so many of its standard deviations apart.
_SPAN = 8.0
# A view whose columns are all correlated this well with the inputs shows nothing new.
_NEW = 0.95
# Values that differ by less than this share of their range differ by rounding.
_SAME = 1e-12
# Shares of weight are equal up to this.
_ROUNDING = 1e-9
# Of tables this wide no views are looked for.
_MOST_COLUMNS = 500


@dataclass(frozen=True, eq=False)
class SoftClip:
    """The map z ↦ (t - mean) / spread of every column.

    t = r / √(1 + (r / 3)²) with r = (z - centre) / width bends beyond 3 and stays within it.
    """

    centre: Array
    width: Array
    mean: Array
    spread: Array

    @classmethod
    def of(cls, Z: Columns, s: Columns) -> Self:
        """Learn from rows Z (n, d) of weights s: medians and quartiles, mean and spread."""
        low, centre, high = _quantiles(Z, s, (0.25, 0.5, 0.75))
        width = np.where(high > low, (high - low) / _QUARTILES, 1.0)
        mean, spread = _moments(_clipped((Z - centre) / width), s)
        # Marks stay as they are: clipping two values is a change of units.
        two = _n_values(Z) <= 2
        ones, none = np.ones(Z.shape[1]), np.zeros(Z.shape[1])
        return cls(
            np.where(two, none, centre),
            np.where(two, ones, width),
            np.where(two, none, mean),
            np.where(two, ones, spread),
        )

    def __call__(self, Z: Array) -> Array:
        """Return the view of standardised rows (n, d)."""
        return (_clipped((Z - self.centre) / self.width) - self.mean) / self.spread

    def to(self, like: Array, dtype: Any) -> Self:
        """Return the same map on the library and device of `like`."""
        parts = (self.centre, self.width, self.mean, self.spread)
        return type(self)(*(place(part, like, dtype) for part in parts))


def _clipped(R: Array) -> Array:
    xp = namespace(R)
    # The square of a value far outside would be too large for a number.
    R = xp.clip(R, min=-FAR, max=FAR)
    return R / xp.sqrt(1 + (R / BEND) ** 2)


@dataclass(frozen=True, eq=False)
class RankScores:
    """Normal scores of ranks: linear between `knots` (k, d), where they are `scores` (k, d).

    Beyond the first and the last knot of a column they rise as they do on average between them.
    Columns with fewer knots repeat the last one.
    """

    knots: Array
    scores: Array

    @classmethod
    def of(cls, Z: Columns, s: Columns) -> Self:
        """Learn from rows Z (n, d) of weights s."""
        knots, scores = np.empty((2, _KNOTS, Z.shape[1]))
        for j, column in enumerate(Z.T):
            x, y = _column_scores(column, s)
            pad = np.minimum(np.arange(_KNOTS), len(x) - 1)
            knots[:, j], scores[:, j] = x[pad], y[pad]
        return cls(knots, scores)

    def __call__(self, Z: Array) -> Array:
        """Return the view of standardised rows (n, d)."""
        knots, scores = self.knots, self.scores
        xp = namespace(Z)
        if isinstance(Z, np.ndarray):
            return self._of_columns(Z)
        rise = (scores[-1, :] - scores[0, :]) / (knots[-1, :] - knots[0, :])
        beyond = xp.clip(Z - knots[-1, :], min=0.0) + xp.clip(Z - knots[0, :], max=0.0)
        total = beyond * rise + scores[0, :]
        for k in range(int(knots.shape[0]) - 1):
            low, high = knots[k, :], knots[k + 1, :]
            # Not as a difference of two lines, which are steep where a column has heavy tails.
            part = (xp.minimum(xp.maximum(Z, low), high) - low) / _positive(high - low)
            # Knots that are equal, as they may be once rounded, are a step.
            part = xp.where(high > low, part, xp.astype(high <= Z, Z.dtype))
            total = total + part * (scores[k + 1, :] - scores[k, :])
        return total

    def _of_columns(self, Z: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        found = Z.copy()
        for j in self._bent:
            column, x, y = Z[:, j], self.knots[:, j], self.scores[:, j]
            beyond = np.maximum(column - x[-1], 0.0) + np.minimum(column - x[0], 0.0)
            found[:, j] = beyond * ((y[-1] - y[0]) / (x[-1] - x[0])) + np.interp(column, x, y)
        return found

    @cached_property
    def _bent(self) -> list[int]:
        """Columns that do not stay as they are, as marks do."""
        changed = (to_numpy(self.knots) != to_numpy(self.scores)).any(axis=0)
        return np.flatnonzero(changed).tolist()

    def to(self, like: Array, dtype: Any) -> Self:
        """Return the same map on the library and device of `like`."""
        return type(self)(place(self.knots, like, dtype), place(self.scores, like, dtype))


def _positive(steps: Array) -> Array:
    xp = namespace(steps)
    return xp.where(steps > 0, steps, xp.ones_like(steps))


View: TypeAlias = SoftClip | RankScores
Views: TypeAlias = Mapping[str, View | None]


def find_views(Z: Array, s: Array) -> Views:
    """Return the views that show standardised rows Z (n, d) of weights s in a light of their own.

    The standard one is None.
    """
    found: dict[str, View | None] = {STANDARD: None}
    rows, weights = to_numpy(cast(Z, namespace(Z).float64)), to_numpy(s)
    if rows.shape[1] > _MOST_COLUMNS or len(rows) < 2:
        return found
    for name, kind in ((CLIPPED, SoftClip), (RANKED, RankScores)):
        view = kind.of(rows, weights)
        if _likeness(rows, view(rows), weights).min() < _NEW:
            found[name] = view
    return found


def _likeness(Z: Columns, V: Columns, s: Columns) -> Columns:
    """Return the correlation of every column with its view, 1 where a column is constant."""
    share = s / s.sum()
    Z, V = Z - share @ Z, V - share @ V
    norms = np.sqrt((share @ Z**2) * (share @ V**2))
    constant = norms <= 1e-12
    return np.where(constant, 1.0, (share @ (Z * V)) / np.where(constant, 1.0, norms))


def _column_scores(column: Columns, s: Columns) -> tuple[Columns, Columns]:
    """Return knots and standardised normal scores of the middle ranks of a column's values."""
    values, owner = _told_apart(column)
    if len(values) <= 2:
        # Marks stay as they are; a line has two ends.
        return np.array([0.0, 1.0]), np.array([0.0, 1.0])
    counts: Columns = np.bincount(owner, s).astype(np.float64)
    ranks = (np.cumsum(counts) - counts / 2) / counts.sum()
    scores = ndtri(ranks)
    mean, spread = _moments(scores[:, None], counts)
    scores = (scores - mean[0]) / spread[0]
    if len(values) > _KNOTS:
        even = np.linspace(scores[0], scores[-1], _KNOTS)
        chosen = np.unique(np.abs(scores[:, None] - even).argmin(axis=0))
        values, scores = values[chosen], scores[chosen]
    return values, scores


def _told_apart(column: Columns) -> tuple[Columns, np.ndarray[Any, np.dtype[np.int64]]]:
    """Return the values of a column, and which of them each row has.

    Values that differ by rounding alone are one: ranks would set them apart, as the cosines of two
    days of the week that are equal, and the next library to compute them rounds otherwise.
    """
    values, owner = np.unique(column, return_inverse=True)
    new = np.diff(values) > _SAME * max(values[-1] - values[0], 0.0)
    number = np.concatenate([[0], np.cumsum(new)])
    return values[np.concatenate([[True], new])], number[owner.reshape(-1)]


def _moments(V: Columns, s: Columns) -> tuple[Columns, Columns]:
    """Return the mean of every column, and its standard deviation or an eighth of its range."""
    share = s / s.sum()
    mean = share @ V
    spread = np.maximum(np.sqrt(share @ (V - mean) ** 2), np.ptp(V, axis=0) / _SPAN)
    return mean, np.where(spread > 0, spread, 1.0)


def _n_values(Z: Columns) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Count the distinct values of every column."""
    ordered = np.sort(Z, axis=0)
    counts: np.ndarray[Any, np.dtype[np.int64]] = np.count_nonzero(
        ordered[1:] > ordered[:-1], axis=0
    )
    return counts + 1


def _quantiles(Z: Columns, s: Columns, levels: tuple[float, ...]) -> Columns:
    """Return weighted quantiles of every column, one row for each level."""
    order = np.argsort(Z, axis=0)
    ordered = np.take_along_axis(Z, order, axis=0)
    # Up to a row and with it: rows that are repeated count as one of their weight.
    reached = np.cumsum(s[order], axis=0) / s.sum()
    found = [np.argmax(reached >= level - _ROUNDING, axis=0) for level in levels]
    return np.stack([np.take_along_axis(ordered, at[None, :], axis=0)[0] for at in found])
