"""What every noise model answers: mean and variances of rows, part by part."""

from typing import NamedTuple, Self

from elmband._arrays import Array, namespace


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


def positive(x: Array) -> Array:
    """Replace negative values by zero."""
    xp = namespace(x)
    return xp.where(x > 0, x, xp.zeros_like(x))
