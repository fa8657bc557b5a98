"""CatBoost (>= 1.2): all quantiles in one model."""

from collections.abc import Sequence

from benchmarks.quality.rivals.base import Floats, Prediction, from_tails, tails
from catboost import CatBoostRegressor


def multi_quantile(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Loss "MultiQuantile", otherwise ``CatBoostRegressor()`` as it comes: 1,000 trees."""
    alphas = ",".join(f"{q:.6g}" for q in tails(levels))
    model = CatBoostRegressor(
        loss_function=f"MultiQuantile:alpha={alphas}",
        random_seed=seed,
        verbose=False,
        allow_writing_files=False,
    )
    return from_tails(model.fit(X_train, y_train).predict(X_test))
