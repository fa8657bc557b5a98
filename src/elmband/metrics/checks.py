"""What all metrics share: checks that end in a sentence, and weighted means."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from elmband.ground.arrays import Floats


def require(ok: Any, sentence: str) -> None:
    """Raise a ValueError with this sentence unless all is `ok`."""
    if not ok:
        raise ValueError(sentence)


def numbers(name: str, value: Any, shape: Any = None, *, infinite: bool = False) -> Floats:
    """Return the value as an array of floats, or say in a sentence what is wrong with it."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be a rectangular array of numbers: {error}") from error
    fits = shape is None or array.shape == shape
    require(fits, f"{name} has shape {array.shape}, expected {shape}: reshape or realign it")
    kind, valid = ("NaN", ~np.isnan(array)) if infinite else ("NaN or inf", np.isfinite(array))
    require(valid.all(), f"{name} holds {kind}, expected none: drop or fill these values first")
    return array


def check_levels(name: str, value: Any, ndims: tuple[int, ...] = (0,)) -> Floats:
    """Return one level, or several, strictly between 0 and 1; say in a sentence what is wrong."""
    levels = numbers(name, value)
    kinds = " or ".join(("one number", "a list of numbers")[d] for d in ndims)
    fits = levels.ndim in ndims and levels.size
    require(fits, f"{name} has shape {levels.shape}, expected {kinds} between 0 and 1")
    wrong = levels[(levels <= 0) | (levels >= 1)]
    if wrong.size:
        hint = f"did you mean {wrong[0] / 100:g}?" if 1 < wrong[0] < 100 else "try 0.9"
        raise ValueError(f"{name} is {wrong[0]:g}, expected strictly between 0 and 1: {hint}")
    return levels


def rows(y_true: Any, sample_weight: Any, tail: tuple[int, ...], **arrays: Any) -> list[Floats]:
    """Return the weights (n,), y (n, m) and arrays (n, m, *tail), without rows of weight zero."""
    y = numbers("y_true", y_true)
    fits = y.ndim in {1, 2} and y.size
    require(fits, f"y_true has shape {y.shape}, expected (n,) or (n, m) with at least one row")
    weight = np.ones(len(y)) if sample_weight is None else sample_weight
    weight = numbers("sample_weight", weight, y.shape[:1])
    ok = (weight >= 0).all() and weight.any()
    require(ok, "sample_weight must be 0 or more and not all 0: correct it or leave it out")
    rows = [weight, y.reshape(len(y), -1)]
    for name, value in arrays.items():
        array = numbers(name, value, y.shape + tail, infinite=True)
        rows.append(array.reshape(len(y), -1, *tail))
    return [array[weight > 0] for array in rows]


def judge(y_true: Any, interval: Any, sample_weight: Any, levels: Any = ()) -> list[Floats]:
    """Return the weights, y, and for each interval its width and how far its target is outside."""
    name = "intervals" if levels else "interval"
    weight, y, array = rows(y_true, sample_weight, (2, *levels), **{name: interval})
    lower, upper = array[:, :, 0], array[:, :, 1]
    ok = (lower <= upper) & (lower < np.inf) & (upper > -np.inf)
    require(ok.all(), f"{name} has lower > upper, lower = inf or upper = -inf: check its order")
    target = y.reshape(y.shape + (1,) * len(levels))
    return [weight, y, upper - lower, np.maximum(np.maximum(lower - target, target - upper), 0)]


def standardised(y_true: Any, mean: Any, std: Any, sample_weight: Any) -> list[Floats]:
    """Return the weights, y - mean, std and their quotient, which is infinite where std is 0."""
    weight, y, center, sd = rows(y_true, sample_weight, (), mean=mean, std=std)
    ok = np.isfinite(center).all() and ((sd >= 0) & (sd < np.inf)).all()
    require(ok, "mean and std must be finite and std at least 0: check where they come from")
    error = y - center
    z = np.divide(error, sd, out=np.copysign(np.inf, error), where=sd > 0)
    return [weight, error, sd, z]


def weighted_mean(values: NDArray[Any], weight: Floats) -> Floats:
    """Return the weighted mean over the rows, for each output."""
    # Weights of the full shape: both sums run in the same order, so that a share of 1 is exactly 1.
    w = np.ones_like(values, dtype=np.float64) * weight.reshape(-1, *(1,) * (values.ndim - 1))
    return np.asarray(np.average(values, axis=0, weights=w))
