"""Standardisation of inputs and targets, from sums over rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from elmband._arrays import Array, cast, double, epsilon, namespace, place
from elmband.moments import Moments
from elmband.products import column_sums


@dataclass(frozen=True, eq=False)
class ColumnMoments(Moments):
    """Count, mean and centred sum of squares of every column.

    They merge by the update of Chan, Golub and LeVeque, which does not cancel where the mean
    is large against the spread.
    """

    n: float
    mean: Array
    squares: Array

    @property
    def std(self) -> Array:
        """Standard deviation of every column."""
        return namespace(self.mean).sqrt(self.squares / self.n)

    @property
    def constant(self) -> Array:
        """Whether the values of a column are all equal but for rounding."""
        xp = namespace(self.mean)
        return self.std <= 100 * epsilon(xp.float64, xp) * xp.abs(self.mean)

    def __add__(self, other: Self) -> Self:
        n = self.n + other.n
        step = other.mean - self.mean
        return type(self)(
            n=n,
            mean=self.mean + step * (other.n / n),
            squares=self.squares + other.squares + step**2 * (self.n * other.n / n),
        )


def column_moments(X: Array, s: Array | None) -> ColumnMoments:
    """Sum up the columns of one chunk in float64, rows counted by their weights `s`."""
    xp = namespace(X)
    if s is None and not isinstance(X, np.ndarray) and X.dtype == xp.float32:
        return _shifted_moments(X)
    given, X = X, double(X)
    if s is None:
        n, mean = int(X.shape[0]), xp.mean(X, axis=0)
        # A copy is there to be overwritten.
        gaps = np.subtract(X, mean, out=X) if _is_copy(X, given) else X - mean
        gaps *= gaps
        return ColumnMoments(n=float(n), mean=mean, squares=xp.sum(gaps, axis=0))
    weights = double(s)
    n = xp.sum(weights)
    mean = weights @ X / n
    return ColumnMoments(n=float(n), mean=mean, squares=weights @ (X - mean) ** 2)


def _is_copy(X: Array, given: Array) -> bool:
    return isinstance(X, np.ndarray) and X is not given and X.dtype != given.dtype


def _shifted_moments(X: Array) -> ColumnMoments:
    """Sum up float32 columns without a copy in float64, which devices are slow with.

    Near the mean, differences of float32 numbers are exact; what the mean itself was rounded by
    is taken away afterwards.
    """
    xp = namespace(X)
    n = int(X.shape[0])
    mean = column_sums(X) / n
    near = cast(mean, X.dtype)
    gaps = X - near
    gaps *= gaps
    squares = column_sums(gaps) - n * (mean - double(near)) ** 2
    return ColumnMoments(n=float(n), mean=mean, squares=xp.clip(squares, min=0.0))


@dataclass(frozen=True, eq=False)
class Scaling:
    """The affine map (x - mean) / scale of every column."""

    mean: Array
    scale: Array

    def __repr__(self) -> str:
        return f"Scaling(n_columns={int(self.mean.shape[0])})"

    @classmethod
    def from_moments(cls, moments: ColumnMoments) -> Self:
        """Scale columns to mean 0 and variance 1; constant ones are only centred."""
        xp = namespace(moments.mean)
        std = moments.std
        # Rounding leaves a constant column a spread of a few units in its last place.
        return cls(mean=moments.mean, scale=xp.where(moments.constant, xp.ones_like(std), std))

    def __call__(self, X: Array, out: Any = None) -> Array:
        """Standardise columns, in the dtype of this scaling, on NumPy in `out`."""
        X = cast(X, self.mean.dtype)
        Z = X - self.mean if out is None else np.subtract(X, self.mean, out=out)
        Z /= self.scale
        return Z

    def to(self, like: Array, dtype: Any) -> Self:
        """Return the same map on the library and device of `like`."""
        return type(self)(place(self.mean, like, dtype), place(self.scale, like, dtype))
