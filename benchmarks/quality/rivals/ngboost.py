"""NGBoost (>= 0.5): natural-gradient boosting of a normal distribution."""

from collections.abc import Sequence

from benchmarks.quality.rivals.base import Floats, Prediction, from_normal
from ngboost import NGBRegressor


def normal(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Run ``NGBRegressor()`` as it comes: 500 trees of depth 3, log score, rate 0.01."""
    model = NGBRegressor(verbose=False, random_state=seed).fit(X_train, y_train)
    distribution = model.pred_dist(X_test)
    return from_normal(distribution.params["loc"], distribution.params["scale"], levels)
