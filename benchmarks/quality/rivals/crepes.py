"""crepes (>= 0.8): normalised conformal regression."""

from collections.abc import Sequence

import numpy as np
from benchmarks.quality.rivals.base import Floats, Prediction, hold_out
from crepes import WrapRegressor
from crepes.extras import DifficultyEstimator
from sklearn.ensemble import RandomForestRegressor


def knn(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Random forest, difficulty by nearest neighbours, a quarter of the rows for calibration.

    As in the guide of crepes: a default forest, and as difficulty the standard deviation of y
    over the 25 nearest rows, plus 0.01. Fewer neighbours only where there are not 25 rows.
    """
    X, y, X_cal, y_cal = hold_out(X_train, y_train, seed)
    model = WrapRegressor(RandomForestRegressor(n_jobs=-1, random_state=seed))
    model.fit(X, y)
    difficulty = DifficultyEstimator()
    difficulty.fit(X, y=y, k=min(25, len(y) - 1))
    model.calibrate(X_cal, y_cal, de=difficulty, seed=seed)
    intervals = [model.predict_int(X_test, confidence=level) for level in levels]
    return Prediction(model.predict(X_test), np.stack(intervals, axis=-1))
