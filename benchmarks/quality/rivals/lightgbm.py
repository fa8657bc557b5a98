"""LightGBM (>= 4.0): one model per quantile, plain and conformalised."""

from collections.abc import Sequence

import numpy as np
from benchmarks.quality.rivals.base import Floats, Prediction, from_tails, tails
from benchmarks.quality.rivals.conformal import conformalised
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
    """Conformalise the same quantiles on a quarter held out."""
    return conformalised(_quantiles, X_train, y_train, X_test, levels, seed)


def _quantiles(
    X: Floats, y: Floats, tests: list[Floats], levels: Sequence[float], seed: int
) -> list[Floats]:
    """Return the quantiles of `tails` for the rows of each array in `tests`."""
    models = [
        LGBMRegressor(objective="quantile", alpha=q, random_state=seed, verbose=-1).fit(X, y)
        for q in tails(levels)
    ]
    return [np.column_stack([model.predict(X_new) for model in models]) for X_new in tests]
