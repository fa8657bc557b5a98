"""LightGBM (>= 4.0) at its defaults: two models of quantiles, and one of the mean."""

from pathlib import Path

import numpy as np
from benchmarks.answers.data import Floats
from benchmarks.answers.rivals import LEVEL
from lightgbm import LGBMRegressor


class Model:
    """Three models that are asked one after the other."""

    def __init__(self, threads: int | None) -> None:
        given = {"random_state": 0, "verbose": -1, "n_jobs": threads}
        tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
        self._mean = LGBMRegressor(**given)
        self._tails = [LGBMRegressor(objective="quantile", alpha=q, **given) for q in tails]

    def fit(self, X: Floats, y: Floats) -> None:
        """Learn from rows."""
        for model in (self._mean, *self._tails):
            model.fit(X, y)

    def answer(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and bounds."""
        bounds = np.column_stack([model.predict(X) for model in self._tails])
        return self._mean.predict(X), np.sort(bounds, axis=1)

    def save(self, folder: Path) -> int:
        """Write three text files, as its own method does."""
        paths = [folder / f"model-{k}.txt" for k in range(3)]
        for path, model in zip(paths, (self._mean, *self._tails), strict=True):
            model.booster_.save_model(path)
        return sum(path.stat().st_size for path in paths)
