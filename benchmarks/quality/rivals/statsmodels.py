"""statsmodels (>= 0.14): linear models, the floor that everything else should beat."""

from collections.abc import Sequence

import numpy as np
from benchmarks.quality.rivals.base import Floats, Prediction, from_tails, tails
from statsmodels.api import OLS, QuantReg, add_constant


def ols(
    X_train: Floats,
    y_train: Floats,
    X_test: Floats,
    levels: Sequence[float],
    seed: int,  # noqa: ARG001 - the shared signature
) -> Prediction:
    """Least squares with textbook prediction intervals (Student's t)."""
    X_train, X_test = _prepare(X_train, X_test)
    result = OLS(y_train, X_train).fit().get_prediction(X_test)
    bounds = [result.conf_int(obs=True, alpha=1 - level) for level in levels]
    return Prediction(result.predicted_mean, np.stack(bounds, axis=-1), result.se_obs)


def quantreg(
    X_train: Floats,
    y_train: Floats,
    X_test: Floats,
    levels: Sequence[float],
    seed: int,  # noqa: ARG001 - the shared signature
) -> Prediction:
    """Linear quantile regression, one fit per quantile."""
    X_train, X_test = _prepare(X_train, X_test)
    model = QuantReg(y_train, X_train)
    values = [X_test @ model.fit(q=q).params for q in tails(levels)]
    return from_tails(np.column_stack(values))


def _prepare(X_train: Floats, X_test: Floats) -> tuple[Floats, Floats]:
    """Standardise inputs, drop constant ones, add the intercept."""
    centre, scale = X_train.mean(axis=0), X_train.std(axis=0)
    used = scale > 1e-12 * np.maximum(1.0, np.abs(centre))
    train, test = ((X[:, used] - centre[used]) / scale[used] for X in (X_train, X_test))
    return add_constant(train, has_constant="add"), add_constant(test, has_constant="add")
