"""quantile-forest (>= 1.3): quantile regression forests."""

from collections.abc import Sequence

from benchmarks.quality.rivals.base import Floats, Prediction, from_tails, tails
from quantile_forest import RandomForestQuantileRegressor


def quantiles(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Run ``RandomForestQuantileRegressor()`` as it comes: 100 trees, one row kept per leaf."""
    model = RandomForestQuantileRegressor(n_jobs=-1, random_state=seed)
    model.fit(X_train, y_train)
    values = model.predict(X_test, quantiles=tails(levels))
    return from_tails(values, mean=model.predict(X_test, quantiles="mean"))
