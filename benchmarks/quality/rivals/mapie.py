"""MAPIE (>= 1.0): conformal intervals around scikit-learn models."""

from collections.abc import Sequence

import numpy as np
from benchmarks.quality.rivals.base import Floats, Prediction, hold_out
from mapie.regression import (
    ConformalizedQuantileRegressor,
    CrossConformalRegressor,
    SplitConformalRegressor,
)
from sklearn.ensemble import GradientBoostingRegressor, RandomForestRegressor


def split(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Split conformal: a default random forest, absolute residuals, a quarter held out.

    MAPIE's own default model is least squares, which would say little about its intervals.
    """
    X, y, X_cal, y_cal = hold_out(X_train, y_train, seed)
    model = SplitConformalRegressor(_forest(seed), confidence_level=list(levels), prefit=False)
    model.fit(X, y).conformalize(X_cal, y_cal)
    return Prediction(*model.predict_interval(X_test))


def cv_plus(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """CV+ with MAPIE's defaults, method "plus" and 5 folds, around a default random forest."""
    model = CrossConformalRegressor(_forest(seed), confidence_level=list(levels), random_state=seed)
    return Prediction(*model.fit_conformalize(X_train, y_train).predict_interval(X_test))


def cqr(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Conformalised quantile regression around scikit-learn's default gradient boosting.

    Each level needs three models of its own. By default MAPIE corrects both ends separately,
    which asks for more than 2 / (1 - level) calibration rows; with fewer, one common correction
    is used, as MAPIE offers.
    """
    X, y, X_cal, y_cal = hold_out(X_train, y_train, seed)
    intervals = []
    for level in levels:
        boosting = GradientBoostingRegressor(loss="quantile", random_state=seed)
        model = ConformalizedQuantileRegressor(boosting, confidence_level=level)
        model.fit(X, y).conformalize(X_cal, y_cal)
        few = len(y_cal) <= 2 / (1 - level) + 1
        median, interval = model.predict_interval(X_test, symmetric_correction=few)
        intervals.append(interval[:, :, 0])
    return Prediction(median, np.stack(intervals, axis=-1))


def _forest(seed: int) -> RandomForestRegressor:
    return RandomForestRegressor(n_jobs=-1, random_state=seed)
