"""The sums a fit is made of: small frozen values that add up chunk by chunk."""

from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

from elmband.ground.arrays import Array, double, namespace
from elmband.sums.products import cross, squares


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over rows. Two of a kind add up to the sums over the rows of both."""

    def __add__(self, other: Self) -> Self:
        sums = (getattr(self, f.name) + getattr(other, f.name) for f in fields(self))
        return type(self)(*sums)


class Chunk(NamedTuple):
    """A block of rows: inputs X (n, d), targets Y (n, m), and weights s (n,) or None.

    Only ratios of weights matter: wherever something is estimated they have a mean of one. A row
    is left out with all of its weight. The same values carry hidden outputs in the place of X once
    the hidden layer has been applied.
    """

    X: Array
    Y: Array
    s: Array | None

    @property
    def weighted(self) -> tuple[Array, Array]:
        """X and Y with every row multiplied by the root of its weight.

        Products of these with themselves take half the arithmetic of products with one side
        weighted.
        """
        if self.s is None:
            return self.X, self.Y
        root = namespace(self.s).sqrt(self.s)[:, None]
        return self.X * root, self.Y * root

    @property
    def n(self) -> float:
        """Sum of the weights, the number of rows where they have none."""
        if self.s is None:
            return float(self.X.shape[0])
        return float(namespace(self.s).sum(double(self.s)))


@dataclass(frozen=True, eq=False)
class Pieces(Moments):
    """Values of single rows in the order of the chunks; they add up by concatenation."""

    parts: tuple[Array, ...]

    def joined(self) -> Array:
        """Return the values of all rows as one array."""
        return namespace(*self.parts).concat(self.parts, axis=0)


@dataclass(frozen=True, eq=False)
class Count(Moments):
    """A number of rows."""

    n: float


@dataclass(frozen=True, eq=False)
class Several(Moments):
    """Sums of several kinds over the same rows, each of which adds up by itself."""

    parts: tuple[Any, ...]

    def __add__(self, other: Self) -> Self:
        return type(self)(tuple(a + b for a, b in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True, eq=False)
class TargetSums(Moments):
    """n, Hᵀy and yᵀy: what a ridge solution needs of the targets."""

    n: float
    HtY: Array
    YtY: Array

    def times(self, factor: float) -> Self:
        """Return the sums over rows whose weights are larger by a factor."""
        return type(self)(*(factor * getattr(self, f.name) for f in fields(self)))


@dataclass(frozen=True, eq=False)
class Gram(TargetSums):
    """n, HᵀH, Hᵀy and yᵀy: all that a ridge solution needs to know of the rows."""

    HtH: Array

    def with_targets(self, sums: TargetSums) -> "Gram":
        """Return the sums for the same rows with other targets."""
        return Gram(sums.n, sums.HtY, sums.YtY, self.HtH)


def target_sums(rows: Chunk) -> TargetSums:
    """Sum s·hᵀy and s·y² over a chunk of hidden outputs.

    Products run in the dtype of the chunk, the results are float64.
    """
    return _target_sums(rows.n, *rows.weighted)


def gram(rows: Chunk) -> Gram:
    """Sum s·hᵀh as well."""
    H, Y = rows.weighted
    sums = _target_sums(rows.n, H, Y)
    return Gram(sums.n, sums.HtY, sums.YtY, squares(H))


def _target_sums(n: float, H: Array, Y: Array) -> TargetSums:
    return TargetSums(n, cross(H, Y), namespace(Y).sum(double(Y) ** 2, axis=0))
