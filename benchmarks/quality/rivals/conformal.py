"""Conformalised quantile regression, around any model of quantiles."""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from benchmarks.quality.rivals.base import Floats, Prediction, from_tails, hold_out


class QuantileModel(Protocol):
    """What an adaptor brings: quantiles in the order of `tails`, for several arrays of rows."""

    def __call__(
        self, X: Floats, y: Floats, tests: list[Floats], levels: Sequence[float], seed: int
    ) -> list[Floats]:
        """Fit once and return an array of quantiles for the rows of each array in `tests`."""
        ...


def conformalised(
    quantiles: QuantileModel,
    X_train: Floats,
    y_train: Floats,
    X_test: Floats,
    levels: Sequence[float],
    seed: int,
) -> Prediction:
    """Fit on three quarters of the rows and widen by the rest (Romano et al., 2019).

    With scores ``s = max(lower - y, y - upper)`` of m calibration rows, both bounds move out by
    the ``ceil((m + 1) · level)``-th smallest score, infinity where m is too small.
    """
    X, y, X_cal, y_cal = hold_out(X_train, y_train, seed)
    on_cal, on_test = map(from_tails, quantiles(X, y, [X_cal, X_test], levels, seed))
    assert on_cal.interval is not None
    assert on_test.interval is not None
    target = y_cal[:, np.newaxis]
    scores = np.maximum(on_cal.interval[:, 0] - target, target - on_cal.interval[:, 1])
    scores = np.vstack([np.sort(scores, axis=0), np.full(len(levels), np.inf)])
    rank = np.ceil((len(y_cal) + 1) * np.asarray(levels)).astype(int) - 1
    margin = scores[np.minimum(rank, len(y_cal)), np.arange(len(levels))]
    return Prediction(on_test.mean, on_test.interval + np.stack([-margin, margin]))
