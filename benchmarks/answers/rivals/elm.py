"""elmband: its defaults, the same with the exact variance, and the published layer."""

import inspect
from pathlib import Path
from typing import Any

from benchmarks.answers.data import Floats
from benchmarks.answers.rivals import LEVEL

from elmband import ELMIntervalRegressor

EXACT = {"mode": "exact"}
"""What keeps the exact variance of the model, in versions whose default is a fast one."""
_FAST = {"mode": "auto"}
_MODES: dict[str, dict[str, Any]] = {
    "default": {},
    "exact": EXACT,
    "published": {"n_neurons": 200, "noise": "squared", "calibration": "gaussian"},
}


def absent(mode: str = "default") -> str | None:
    """Say why a mode cannot be measured, None where it can."""
    known = inspect.signature(ELMIntervalRegressor).parameters
    fast = all(name in known and known[name].default == value for name, value in _FAST.items())
    return None if fast or mode != "exact" else "the variance of this version is the exact one"


class Model:
    """The estimator; its threads are those of BLAS, which the environment limits."""

    def __init__(self, threads: int | None, mode: str = "default") -> None:
        del threads
        self.estimator = ELMIntervalRegressor(random_state=0, **_MODES[mode])

    def fit(self, X: Floats, y: Floats) -> None:
        """Learn from rows."""
        self.estimator.fit(X, y)

    def answer(self, X: Floats) -> tuple[Floats, Floats]:
        """Return means and bounds in one call."""
        mean, interval = self.estimator.predict(X, confidence_level=LEVEL)
        return mean, interval

    def save(self, folder: Path) -> int:
        """Write a model file."""
        self.estimator.save(folder / "model.safetensors")
        return (folder / "model.safetensors").stat().st_size
