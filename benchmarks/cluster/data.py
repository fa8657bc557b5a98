"""Files of rows, and the model that is fitted to them."""

from pathlib import Path
from typing import Any

import numpy as np

from elmband import ELMIntervalRegressor

FEATURES, SIGMOIDS = 147, 200
NEURONS = FEATURES + SIGMOIDS
ROW_BYTES = 4 * (FEATURES + 1)
PASSES = 4
_WRITTEN = 50_000


def rows_file(folder: Path, n: int) -> Path:
    """Write n rows of float32, the last column being the target; once is enough."""
    path = folder / f"rows-{n}.npy"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    begun = path.with_suffix(".part")
    table = np.lib.format.open_memmap(begun, "w+", np.float32, (n, FEATURES + 1))
    rng = np.random.default_rng(0)
    for first in range(0, n, _WRITTEN):
        X = rng.standard_normal((min(_WRITTEN, n - first), FEATURES), dtype=np.float32)
        noise = 0.1 * (1 + abs(X[:, 2])) * rng.standard_normal(len(X))
        table[first : first + len(X), :-1] = X
        table[first : first + len(X), -1] = np.sin(X[:, 0]) + X[:, 1] / 3 + noise
    table.flush()
    begun.rename(path)
    return path


def model() -> Any:
    """Return the published intervals, whose fit is four passes over the rows."""
    return ELMIntervalRegressor(
        {"linear": FEATURES, "sigmoid": SIGMOIDS},
        noise="squared",
        calibration="gaussian",
        alpha=1e-3,
        random_state=0,
        verbose=False,
    )
