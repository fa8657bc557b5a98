"""What every noise model answers: mean and variances of rows, part by part."""

import math
from typing import NamedTuple, Self

from elmband.ground.arrays import Array, namespace
from elmband.uncertainty.targets import Support

# Its square is a number yet.
_LARGEST = 1e150


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
