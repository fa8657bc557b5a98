#!/usr/bin/env python
"""
The same model on a GPU
=======================

It runs on a GPU if there is one, else on the processor.

Look at the dashes: intervals from `device="auto"` lie on those of the processor. Look at the bars:
how far bounds move with the precision of the products, against float64. On a processor "fast" is
float32; on a GPU it rounds further, and "high" costs more or less time by the kind of GPU.
"""

import sys
from pathlib import Path
from typing import Any

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure

data, new = make_heteroscedastic(20_000, random_state=0), make_heteroscedastic(300, random_state=1)
X, y = data.X.astype(np.float32), data.y.astype(np.float32)
grid = np.sort(new.X, axis=0).astype(np.float32)


def bounds(device: str | None, precision: Any) -> Any:
    """Return 90 % intervals of the published method."""
    model = ELMIntervalRegressor(
        {"linear": 1, "tanh": 10},
        alpha=1.0,
        noise="squared",
        calibration="gaussian",
        precision=precision,
        device=device,
        random_state=0,
    )
    return model.fit(X, y).predict_interval(grid, 0.9)


here, there = bounds(None, "float64"), bounds("auto", "auto")
figure = new_figure(10, 4.5)
left, right = figure.subplots(1, 2)
left.plot(X[::20, 0], y[::20], ".", color="0.7", markersize=3)
left.fill_between(grid[:, 0], *here.T, alpha=0.4, label="processor, float64")
left.plot(grid[:, 0], there, "k--", linewidth=1, label=['device="auto", float32', None])
left.set(xlabel="x", title="90 % intervals")
left.legend(frameon=False)
kinds = ("float32", "fast", "high")
gaps = [np.abs(bounds("auto", kind) - here).max() for kind in kinds]
right.bar(kinds, gaps, width=0.5)
right.set(yscale="log", xlabel="precision", title="largest difference to float64")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "gpu.png", dpi=120)
