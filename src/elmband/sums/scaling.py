"""Standardisation of inputs and targets, from sums over rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from elmband.ground.arrays import Array, cast, double, epsilon, namespace, place
from elmband.sums.moments import Moments
from elmband.sums.products import column_sums

# Distance between the two values of a rare mark after scaling, at most, and what rounding may
# change a variance by.
_MARK = 5.0
_SAME_VARIANCE = 1e-6


@dataclass(frozen=True, eq=False)
class ColumnMoments(Moments):
    """Sum of weights, mean and the root of the centred sum of squares of every column.

    They merge by the update of Chan, Golub and LeVeque, which does not cancel where the mean
    is large against the spread. Roots rather than squares: these would be too large or too small
    for a number long before values are.
    """

    n: float
    mean: Array
    norm: Array

    @property
    def std(self) -> Array:
        """Standard deviation of every column."""
        return self.norm / max(self.n, 1e-300) ** 0.5

    @property
    def squares(self) -> Array:
        """Centred sum of squares."""
        return self.norm**2

    @property
    def constant(self) -> Array:
        """Whether the values of a column are all equal but for rounding."""
        return self.std <= self._rounding

    @property
    def _rounding(self) -> Array:
        """Spread that rounding may leave of a constant column."""
        xp = namespace(self.mean)
        return 100 * epsilon(xp.float64, xp) * xp.abs(self.mean)

    @property
    def unit(self) -> Array:
        """What a column is divided by that is constant but for rounding: 1, or that rounding."""
        xp = namespace(self.mean)
        return xp.where(self._rounding > 1, self._rounding, xp.ones_like(self.mean))

    def __add__(self, other: Self) -> Self:
        n = self.n + other.n
        step = other.mean - self.mean
        apart = step * (self.n / n * other.n) ** 0.5
        hypot = namespace(step).hypot
        return type(self)(
            n=n,
            mean=self.mean + step * (other.n / n),
            norm=hypot(hypot(self.norm, other.norm), apart),
        )


def column_moments(X: Array, s: Array | None) -> ColumnMoments:
    """Sum up the columns of one chunk in float64, rows counted by their weights `s`."""
    xp = namespace(X)
    if s is None and not isinstance(X, np.ndarray) and X.dtype == xp.float32:
        return _shifted_moments(X)
    given, X = X, double(X)
    if s is None:
        n, mean = int(X.shape[0]), xp.mean(X, axis=0)
        # A converted copy may be overwritten.
        is_copy = isinstance(X, np.ndarray) and X is not given and X.dtype != given.dtype
        gaps = np.subtract(X, mean, out=X) if is_copy else X - mean
        return ColumnMoments(n=float(n), mean=mean, norm=_norms(gaps))
    weights = double(s)
    n = xp.sum(weights)
    mean = (weights / n) @ X
    return ColumnMoments(n=float(n), mean=mean, norm=_norms((X - mean) * xp.sqrt(weights)[:, None]))


def _norms(gaps: Array) -> Array:
    """Return the root of the sum of squares of every column, which may be overwritten.

    Values are divided by the largest of their column first.
    """
    xp = namespace(gaps)
    largest = xp.max(xp.abs(gaps), axis=0)
    unit = xp.where(largest > 0, largest, xp.ones_like(largest))
    gaps /= unit
    gaps *= gaps
    return double(unit) * xp.sqrt(column_sums(gaps))


def _shifted_moments(X: Array) -> ColumnMoments:
    """Sum up float32 columns without a copy in float64, which devices are slow with.

    Near the mean, differences of float32 numbers are exact; what the mean itself was rounded by
    is taken away afterwards.
    """
    xp = namespace(X)
    n = int(X.shape[0])
    mean = column_sums(X) / n
    near = cast(mean, X.dtype)
    norm = _norms(X - near)
    rounded = xp.abs(mean - double(near)) * n**0.5
    # √(a² - b²), without squares that are too large or too small for a number.
    norm = xp.sqrt(xp.clip(norm - rounded, min=0.0)) * xp.sqrt(norm + rounded)
    return ColumnMoments(n=float(n), mean=mean, norm=norm)


@dataclass(frozen=True, eq=False)
class Extent(Moments):
    """Least and greatest value of every column."""

    low: Array
    high: Array

    def __add__(self, other: Self) -> Self:
        xp = namespace(self.low)
        return type(self)(xp.minimum(self.low, other.low), xp.maximum(self.high, other.high))


def extent(X: Array) -> Extent:
    """Find the least and the greatest values of one chunk."""
    xp = namespace(X)
    return Extent(double(xp.min(X, axis=0)), double(xp.max(X, axis=0)))


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map (x - mean) / scale of every column."""

    mean: Array
    scale: Array

    def __repr__(self) -> str:
        return f"Scaling(n_columns={int(self.mean.shape[0])})"

    @classmethod
    def from_moments(cls, moments: ColumnMoments, ends: Extent | None = None) -> Self:
        """Scale columns to mean 0 and variance 1; constant ones are only centred.

        Rare marks are no levers: a column of two values, between `ends`, that is set in fewer
        than 4 % of the rows is scaled so that they are 5 apart. (A mark in 2 of 14,133 rows would
        be 84 standard deviations away, and no training row says what happens there.) Of all
        columns between two ends these alone have the variance (mean - low) (high - mean).
        """
        xp = namespace(moments.mean)
        std = moments.std
        if ends is not None:
            width = ends.high - ends.low
            unit = xp.where(width > 0, width, xp.ones_like(width))
            most = (moments.mean - ends.low) / unit * ((ends.high - moments.mean) / unit)
            two_values = xp.abs((std / unit) ** 2 - most) <= _SAME_VARIANCE * most
            std = xp.where(two_values & (std < width / _MARK), width / _MARK, std)
        # Rounding leaves a constant column a spread of a few units in its last place.
        return cls(mean=moments.mean, scale=xp.where(moments.constant, moments.unit, std))

    def __call__(self, X: Array, out: Any = None) -> Array:
        """Standardise columns, in the dtype of this scaling, on NumPy in `out`."""
        X = cast(X, self.mean.dtype)
        Z = X - self.mean if out is None else np.subtract(X, self.mean, out=out)
        Z /= self.scale
        return Z

    def only(self, columns: Any) -> Self:
        """Return the map of some columns, of NumPy."""
        return type(self)(self.mean[columns], self.scale[columns])

    def to(self, like: Array, dtype: Any) -> Self:
        """Return the same map on the library and device of `like`."""
        return type(self)(place(self.mean, like, dtype), place(self.scale, like, dtype))
