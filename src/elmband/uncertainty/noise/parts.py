"""What every noise model answers: mean and variances of rows, and how far means may go."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from elmband.ground.arrays import Array, double, namespace, place, to_numpy
from elmband.sums.scaling import Extent, Scaling
from elmband.uncertainty.transform import Transform

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

# Its square is a number yet.
_LARGEST = 1e150
# How far a mean may go beyond the training targets, and bounds of transformed targets, which grow
# like exponentials: shares of the distance between the least and the greatest of them.
_MEAN_BEYOND = 0.1
_BOUND_BEYOND = 0.25
_BOUND_OF_ONE = 20.0


@dataclass(frozen=True, eq=False)
class Support:
    """The least and the greatest standardised training target of every output, each (m,).

    Means go beyond them by a share `margin` (m,) of their distance, bounds of transformed targets
    by a share `reach`: the fewer rows, the less their targets tell of others.
    """

    low: Floats
    high: Floats
    margin: Floats
    reach: float

    @classmethod
    def of(cls, ends: Extent, targets: Scaling, transform: Transform, n_rows: int) -> Self:
        """Standardise the ends of training targets, transformed ones, of so many rows."""
        low, high = (double(end)[None, :] for end in (ends.low, ends.high))
        step = _MEAN_BEYOND * (high - low)
        # Past the end of its range a transform leads to infinity.
        finite = (to_numpy(transform.inverse(end)) for end in (low - step, high + step))
        margin = np.where(np.all([np.isfinite(end[0]) for end in finite], axis=0), _MEAN_BEYOND, 0)
        least, greatest = (to_numpy(double(targets(end)))[0] for end in (low, high))
        return cls(least, greatest, margin, _BOUND_BEYOND + _BOUND_OF_ONE / n_rows)

    def means(self, mean: Array) -> Array:
        """Return means (n, m) that do not go far beyond the training targets."""
        return self._within(mean, self.margin)

    def bounds(self, bound: Array) -> Array:
        """Return bounds (n, m) of transformed targets whose inverse is no absurd number.

        Infinite ones are meant.
        """
        xp = namespace(bound)
        return xp.where(xp.isinf(bound), bound, self._within(bound, self.reach))

    def _within(self, values: Array, share: Any) -> Array:
        low, high = (place(end, values, values.dtype) for end in self.limits(share))
        xp = namespace(values)
        return xp.minimum(xp.maximum(values, low), high)

    def limits(self, share: Any) -> tuple[Floats, Floats]:
        """Return both ends, moved outwards by a share of their distance."""
        step = share * (self.high - self.low)
        return self.low - step, self.high + step

    @property
    def mean_limits(self) -> tuple[Floats, Floats]:
        """Where means end."""
        return self.limits(self.margin)

    @property
    def bound_limits(self) -> tuple[Floats, Floats]:
        """Where finite bounds of transformed targets end."""
        return self.limits(self.reach)


class Parts(NamedTuple):
    """Mean and variances of rows on standardised targets, each (n, m).

    `above` and `below` are the total variances of the two tails.
    """

    mean: Array
    noise: Array
    mean_model: Array
    noise_model: Array
    noise_lower: Array
    noise_upper: Array
    above: Array
    below: Array

    @property
    def total(self) -> Array:
        """The variance of a new target."""
        return self.noise + self.mean_model + self.noise_model

    @classmethod
    def alike(cls, mean: Array, total: Array) -> Self:
        """Return parts of which only the total is known, with tails that are alike."""
        zero = namespace(total).zeros_like(total)
        return cls(mean, total, zero, zero, zero, zero, total, total)

    def supported(self, support: Support | None) -> Self:
        """Return means that training targets support.

        What a mean went beyond them is an error as likely as not: its square is variance.
        """
        if support is None:
            return self
        xp = namespace(self.mean)
        # Numbers that are too large leave none: nothing is known of such a row.
        lost = xp.isnan(self.mean)
        mean = support.means(xp.where(lost, 0.0, self.mean))
        beyond = xp.clip(xp.abs(self.mean - mean), max=_LARGEST) ** 2
        return self._replace(mean=mean).widened(xp.where(lost, math.inf, beyond))

    def widened(self, variance: Array) -> Self:
        """Return parts whose mean has another variance (n, m) besides its own."""
        return self._replace(
            mean_model=self.mean_model + variance,
            above=self.above + variance,
            below=self.below + variance,
        )

    def bounded_by_nothing(self) -> Self:
        """Return infinite variances where numbers that are too large left none.

        A variance that is not known must not pass for a small one.
        """
        xp = namespace(self.mean)
        variances = (xp.where(xp.isnan(v), math.inf, v) for v in self[1:])
        return type(self)(self.mean, *variances)
