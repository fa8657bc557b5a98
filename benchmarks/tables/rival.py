"""Boosted trees with conformalised quantiles, on the tables that the command line reads.

Text is a category (the most frequent thousand levels), dates are numbers, and all else stays at
the defaults: ``python -m benchmarks.tables.rival METHOD FOLDER TARGET``.
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.quality.rivals.base import tails
from benchmarks.quality.rivals.conformal import conformalised

LEVEL = 0.9
_MOST_LEVELS = 1000


def main(method: str, folder: Path, target: str) -> None:
    """Read, fit, predict, write answers, and tell the seconds of each."""
    quantiles = {"lightgbm": _lightgbm, "catboost": _catboost}[method]
    begun = time.perf_counter()
    train, test = (pd.read_csv(folder / f"{name}.csv") for name in ("train", "test"))
    X, X_new = _features(train.drop(columns=target), test.drop(columns=target))
    y = train[target].to_numpy(dtype=float)
    found = conformalised(quantiles, X, y, X_new, [LEVEL], 0)
    seconds = time.perf_counter() - begun
    answers = np.column_stack([found.mean, found.interval[:, :, 0]])
    np.save(folder / "answers.npy", answers)
    print(json.dumps({"seconds": seconds}))


def _features(train: pd.DataFrame, test: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both tables with text as categories, or as numbers where it is dates."""
    for name in train.columns:
        if pd.api.types.is_numeric_dtype(train[name]):
            continue
        dates = pd.to_datetime(train[name], errors="coerce", format="ISO8601", utc=True)
        if dates.notna().sum() >= train[name].notna().sum() > 0:
            for table in (train, test):
                found = pd.to_datetime(table[name], errors="coerce", format="ISO8601", utc=True)
                table[name] = found.astype("int64").where(found.notna(), np.nan)
            continue
        levels = train[name].value_counts().index[:_MOST_LEVELS]
        for table in (train, test):
            table[name] = pd.Categorical(table[name], categories=levels)
    return train, test


def _lightgbm(X: Any, y: Any, tests: list[Any], levels: Any, seed: int) -> list[Any]:
    from lightgbm import LGBMRegressor  # noqa: PLC0415 - one of the two is enough

    X, *tests = (table.rename(columns=str) for table in (X, *tests))
    # Names with brackets are refused.
    names = {name: f"c{k}" for k, name in enumerate(X.columns)}
    X, *tests = (table.rename(columns=names) for table in (X, *tests))
    models = [
        LGBMRegressor(objective="quantile", alpha=q, random_state=seed, verbose=-1).fit(X, y)
        for q in tails(levels)
    ]
    return [np.column_stack([model.predict(new) for model in models]) for new in tests]


def _catboost(X: Any, y: Any, tests: list[Any], levels: Any, seed: int) -> list[Any]:
    from catboost import CatBoostRegressor  # noqa: PLC0415 - one of the two is enough

    texts = [name for name in X.columns if isinstance(X[name].dtype, pd.CategoricalDtype)]
    X, *tests = (_as_text(table, texts) for table in (X, *tests))
    alphas = ",".join(f"{q:.6g}" for q in tails(levels))
    model = CatBoostRegressor(
        loss_function=f"MultiQuantile:alpha={alphas}",
        random_seed=seed,
        verbose=False,
        allow_writing_files=False,
        cat_features=texts,
    ).fit(X, y)
    return [model.predict(new) for new in tests]


def _as_text(table: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return table.assign(**{n: table[n].astype(object).where(table[n].notna(), "") for n in names})


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
