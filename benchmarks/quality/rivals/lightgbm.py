"""LightGBM (>= 4.0): one model per quantile, plain and conformalised."""

from collections.abc import Sequence

import numpy as np
from benchmarks.quality.rivals.base import Floats, Prediction, from_tails, hold_out, tails
from lightgbm import LGBMRegressor


def quantiles(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Quantile objective, otherwise ``LGBMRegressor()`` as it comes; one fit per quantile."""
    (values,) = _quantiles(X_train, y_train, [X_test], levels, seed)
    return from_tails(values)


def cqr(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Conformalised quantile regression (Romano et al., 2019) on a quarter held out.

    With scores ``s = max(lower - y, y - upper)`` of m calibration rows, both bounds move out by
    the ``ceil((m + 1) · level)``-th smallest score, infinity where m is too small.
    """
    X, y, X_cal, y_cal = hold_out(X_train, y_train, seed)
    on_cal, on_test = (
        from_tails(values) for values in _quantiles(X, y, [X_cal, X_test], levels, seed)
    )
    target = y_cal[:, np.newaxis]
    scores = np.maximum(on_cal.interval[:, 0] - target, target - on_cal.interval[:, 1])
    scores = np.vstack([np.sort(scores, axis=0), np.full(len(levels), np.inf)])
    rank = np.ceil((len(y_cal) + 1) * np.asarray(levels)).astype(int) - 1
    margin = scores[np.minimum(rank, len(y_cal)), np.arange(len(levels))]
    return Prediction(on_test.mean, on_test.interval + np.stack([-margin, margin]))


def _quantiles(
    X: Floats, y: Floats, tests: list[Floats], levels: Sequence[float], seed: int
) -> list[Floats]:
    """Return the quantiles of `tails` for the rows of each array in `tests`."""
    models = [
        LGBMRegressor(objective="quantile", alpha=q, random_state=seed, verbose=-1).fit(X, y)
        for q in tails(levels)
    ]
    return [np.column_stack([model.predict(X_new) for model in models]) for X_new in tests]
