"""CatBoost (>= 1.2) at its defaults: all quantiles in one model, the median for the mean."""

from pathlib import Path

import numpy as np
from benchmarks.answers.data import Floats
from benchmarks.answers.rivals import LEVEL
from catboost import CatBoostRegressor


class Model:
    """One model with the loss "MultiQuantile"."""

    def __init__(self, threads: int | None) -> None:
        alphas = ",".join(f"{q:.6g}" for q in ((1 - LEVEL) / 2, 0.5, (1 + LEVEL) / 2))
        self._threads = threads or -1
        self._model = CatBoostRegressor(
            loss_function=f"MultiQuantile:alpha={alphas}",
            random_seed=0,
            verbose=False,
            allow_writing_files=False,
            thread_count=self._threads,
        )

    def fit(self, X: Floats, y: Floats) -> None:
        """Learn from rows."""
        self._model.fit(X, y)

    def answer(self, X: Floats) -> tuple[Floats, Floats]:
        """Return medians and bounds."""
        found = self._model.predict(X, thread_count=self._threads)
        return found[:, 1], np.sort(found[:, [0, 2]], axis=1)

    def save(self, folder: Path) -> int:
        """Write its own format."""
        self._model.save_model(str(folder / "model.cbm"))
        return (folder / "model.cbm").stat().st_size
