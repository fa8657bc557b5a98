"""What is looked at where an encoder meets new values: their range, and gaps that it fills."""

import warnings
from typing import Any

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import ColumnError

# Times the range of the fit, which skewed numbers leave by one or two times every now and then.
_FAR = 10


def outside(values: Array, low: float, high: float) -> tuple[Array, Array]:
    """Tell which values lie outside a range, and which by many times its length; NaN does not."""
    length = _FAR * (high - low)
    return (values < low) | (values > high), (values < low - length) | (values > high + length)


def warn_of_gaps(name: str) -> None:
    """Say that values are made up; without their number, so that it is said once."""
    warnings.warn(
        f"Column {name!r} has missing values, and had none in training: its mean stands for them, "
        "so that intervals of these rows are too narrow.",
        UserWarning,
        stacklevel=2,
    )


def check_range(values: Array, dtype: Any) -> None:
    """Refuse numbers that the type of the features does not hold."""
    largest = np.finfo(dtype).max
    if dtype != np.float64 and bool((np.abs(values) > largest).any()):
        raise ColumnError(
            "holds numbers too large for float32, which held those of the fit; fit the encoder "
            "with dtype='float64'."
        )
