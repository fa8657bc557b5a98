"""Seconds of a classifier that abstains beside those of the interval model that it is made of.

All have the published layer and the published noise model, and the same training rows.
"""

from typing import Any

import numpy as np
from benchmarks.abstain.data import Split, thinned
from benchmarks.abstain.rivals.elm import layer, published
from benchmarks.scale.watch import Watch

from elmband import ELMIntervalRegressor

REPEATS = 2
WARM_UP_ROWS = 10_000


def study(split: Split) -> dict[str, Any]:
    """Return the best seconds of fit and answers, after a warm-up on a few rows.

    CPU seconds, summed over cores, depend less on what else the machine does.
    """
    _run(thinned(split, WARM_UP_ROWS))
    runs = [_run(split) for _ in range(REPEATS)]
    walls, cpus = ([getattr(run, key) for run in runs] for key in ("seconds", "cpu_seconds"))
    return {
        "rows": len(split.train.y),
        "repeats": REPEATS,
        "seconds": _best(walls),
        "cpu_seconds": _best(cpus),
    }


def _best(runs: list[dict[str, float]]) -> dict[str, float]:
    return {name: min(run[name] for run in runs) for name in runs[0]}


def _run(split: Split) -> Watch:
    watch = Watch()
    X, y, d = split.train.X, split.train.y, split.train.X.shape[1]
    regressor = ELMIntervalRegressor(
        layer(d), noise="squared", calibration="gaussian", random_state=0
    )
    with watch("intervals fit"):
        regressor.fit(X, np.where(y == 1, 1.0, -1.0).astype(X.dtype))
    with watch("intervals predict"):
        regressor.predict(split.test.X)
    with watch("intervals answer"):
        regressor.predict_interval(split.test.X, confidence_level=0.95)
    for rule in ("margin", "interval", "probability"):
        model = published(rule, d, seed=0)
        with watch(f"{rule} fit"):
            model.fit(X, y)
        with watch(f"{rule} answer"):
            model.triage(split.test.X)
    return watch
