"""CatBoost (>= 1.2): all quantiles in one model, plain and conformalised."""

from collections.abc import Sequence

from benchmarks.quality.rivals.base import Floats, Prediction, from_tails, tails
from benchmarks.quality.rivals.conformal import conformalised
from catboost import CatBoostRegressor


def multi_quantile(
    X_train: Floats, y_train: Floats, X_test: Floats, levels: Sequence[float], seed: int
) -> Prediction:
    """Loss "MultiQuantile", otherwise ``CatBoostRegressor()`` as it comes: 1,000 trees."""
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
    alphas = ",".join(f"{q:.6g}" for q in tails(levels))
    model = CatBoostRegressor(
        loss_function=f"MultiQuantile:alpha={alphas}",
        random_seed=seed,
        verbose=False,
        allow_writing_files=False,
    ).fit(X, y)
    return [model.predict(X_new) for X_new in tests]
