"""quantile-forest (>= 1.3) at its defaults: 100 trees, one row kept in each leaf."""

from pathlib import Path

import joblib
from benchmarks.answers.data import Floats
from benchmarks.answers.rivals import LEVEL
from quantile_forest import RandomForestQuantileRegressor


class Model:
    """A forest that is asked for its mean and for both quantiles."""

    def __init__(self, threads: int | None) -> None:
        self._model = RandomForestQuantileRegressor(n_jobs=threads or -1, random_state=0)

    def fit(self, X: Floats, y: Floats) -> None:
        """Learn from rows."""
        self._model.fit(X, y)

    def answer(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and bounds, which take a call each."""
        bounds = self._model.predict(X, quantiles=[(1 - LEVEL) / 2, (1 + LEVEL) / 2])
        return self._model.predict(X, quantiles="mean"), bounds

    def save(self, folder: Path) -> int:
        """Write a pickle, the only format it has."""
        joblib.dump(self._model, folder / "model.joblib")
        return (folder / "model.joblib").stat().st_size
