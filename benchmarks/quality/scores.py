"""What one prediction is worth: the numbers kept for each split."""

from typing import Any

import numpy as np
from benchmarks.quality.data import Split
from benchmarks.quality.rivals.base import Prediction
from numpy.typing import NDArray

from elmband.metrics import (
    coverage_by_group,
    coverage_by_width,
    interval_score,
    nll_gaussian,
    nmpiw,
    picp,
    pinball,
)

Floats = NDArray[np.float64]

LEVELS = (0.9, 0.95)
FIFTHS = 5


def score(split: Split, prediction: Prediction) -> dict[str, Any]:
    """Return all metrics of a prediction for the test rows, as plain numbers and lists.

    Of a point prediction there are only RMSE and, with a standard deviation, NLL.
    Keys that end in a level, such as ``picp90``, exist for each of `LEVELS`. ``fifths90`` is the
    coverage in each fifth of the test rows by predicted width, ``noise_fifths90`` by true noise:
    whole lists, because the worst of five small shares is biased unless splits are averaged first.
    """
    _check(split, prediction)
    y = split.y_test
    result: dict[str, Any] = {
        "rows": split.rows,
        "n_train": len(split.y_train),
        "n_test": len(y),
        "y_sd": float(np.concatenate([split.y_train, y]).std()),
        "rmse": float(np.sqrt(np.mean((y - prediction.mean) ** 2))),
        "nll": _nll(y, prediction),
    }
    if prediction.interval is None:
        return result
    # Bounds that cross are sorted, for every method alike.
    intervals = np.sort(prediction.interval, axis=1)
    result["pinball"] = _pinball(y, intervals, prediction.mean)
    for level, interval in zip(LEVELS, np.moveaxis(intervals, -1, 0), strict=True):
        result |= _of_interval(split, interval, level)
    return result


def _of_interval(split: Split, interval: Floats, level: float) -> dict[str, Any]:
    """Return the metrics of the intervals at one level."""
    y, key = split.y_test, f"{100 * level:.0f}"
    result: dict[str, Any] = {
        f"picp{key}": picp(y, interval),
        f"nmpiw{key}": nmpiw(y, interval),
        f"score{key}": interval_score(y, interval, confidence_level=level),
        f"fifths{key}": coverage_by_width(y, interval, n_bins=FIFTHS).coverage.tolist(),
    }
    if split.noise is not None:
        groups = _fifths(split.noise)
        result[f"noise_fifths{key}"] = coverage_by_group(y, interval, groups).coverage.tolist()
    return result


def _check(split: Split, prediction: Prediction) -> None:
    """Refuse predictions of a wrong shape or with missing values: the adaptor is at fault."""
    n = len(split.y_test)
    shapes = {
        "mean": (prediction.mean, (n,)),
        "interval": (prediction.interval, (n, 2, len(LEVELS))),
        "std": (prediction.std, (n,)),
    }
    for name, (array, expected) in shapes.items():
        if array is None:
            continue
        if array.shape != expected:
            raise ValueError(f"the predicted {name} has shape {array.shape}, expected {expected}")
        if np.isnan(array).any():
            raise ValueError(f"the predicted {name} holds {np.isnan(array).sum()} NaN")


def _nll(y: Floats, prediction: Prediction) -> float | None:
    """Return the normal negative log likelihood, or None for a method without a std."""
    if prediction.std is None:
        return None
    return nll_gaussian(y, prediction.mean, prediction.std) if prediction.std.all() else np.inf


def _pinball(y: Floats, intervals: Floats, centre: Floats) -> float:
    """Return the mean pinball loss of all bounds and of the point prediction as the median."""
    tails = [(1 - level) / 2 for level in LEVELS]
    quantiles = [*tails, 0.5, *(1 - tail for tail in tails)]
    columns = np.column_stack([intervals[:, 0, :], centre, intervals[:, 1, :]])
    return pinball(y, columns, quantiles=quantiles)


def _fifths(values: Floats) -> NDArray[np.intp]:
    """Return the fifth, 0 to 4, that the rank of each value falls in."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return ranks * FIFTHS // len(values)
