"""The Gaussian process of scikit-learn (>= 1.6), on small sets."""

from collections.abc import Sequence

import numpy as np
from benchmarks.quality.rivals.base import Floats, Prediction, UnsuitedError, from_normal
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

MOST_ROWS = 1500


def matern(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Matérn 5/2 kernel with a length for each input, plus noise of constant variance.

    Inputs and target are standardised; hyperparameters by marginal likelihood, one start.
    """
    if len(y_train) > MOST_ROWS:
        raise UnsuitedError(f"{len(y_train)} training rows, run up to {MOST_ROWS} only")
    lengths = np.ones(X_train.shape[1])
    kernel = ConstantKernel() * Matern(lengths, (1e-2, 1e3), nu=2.5) + WhiteKernel()
    process = GaussianProcessRegressor(kernel, normalize_y=True, random_state=seed)
    model = make_pipeline(StandardScaler(), process).fit(X_train, y_train)
    mean, std = model.predict(X_test, return_std=True)
    return from_normal(mean, std, levels)
