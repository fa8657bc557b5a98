#!/usr/bin/env python
"""
To a file and back
==================

A model file holds numbers and text, nothing that could be run.

Look at the dashes: they are the intervals of the model that was loaded, and lie on those of the
model that was saved, to the last bit. Look at the sizes: a mean takes a few kilobytes unless rows
shall be added later, which needs the sums of a single layer. Those, and the covariances behind
intervals, grow with the square of the number of neurons. Every array is stored once.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from elmband import ELMIntervalRegressor, ELMRegressor, load
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure

data, new = make_heteroscedastic(600, random_state=0), make_heteroscedastic(400, random_state=1)
order = np.argsort(new.X[:, 0])
X, y = new.X[order], new.y[order]
NEURONS = [25, 100, 347]


def size(model: Any) -> float:
    """Return the kilobytes that a model takes."""
    with TemporaryDirectory() as folder:
        path = model.fit(data.X, data.y).save(Path(folder, "model.safetensors"))
        return float(path.stat().st_size) / 1000


model = ELMIntervalRegressor(100, random_state=0).fit(data.X, data.y)
with TemporaryDirectory() as folder:
    again = load(model.save(Path(folder, "model.safetensors")))
before, after = model.predict_interval(X, 0.9), again.predict_interval(X, 0.9)
assert np.array_equal(before, after)

figure = new_figure(10, 4.5)
left, right = figure.subplots(1, 2)
left.plot(X[:, 0], y, ".", color="0.7", markersize=3)
left.fill_between(X[:, 0], *before.T, alpha=0.4, label="saved")
left.plot(X[:, 0], after, "k--", linewidth=1, label=["loaded", None])
left.set(xlabel="x", title="90 % intervals, before and after")
left.legend(frameon=False)
for name, kind, options in (
    ("intervals", ELMIntervalRegressor, {}),
    ("intervals, as published", ELMIntervalRegressor, {"noise": "squared"}),
    ("mean of one layer", ELMRegressor, {}),
    ("mean of a stack of three", ELMRegressor, {"n_estimators": 3}),
):
    sizes = [size(kind(n, random_state=0, **options)) for n in NEURONS]
    right.plot(NEURONS, sizes, "o-", markersize=4, label=name)
right.set(xlabel="neurons", title="kilobytes of the file", yscale="log")
right.set_xticks(NEURONS)
right.legend(frameon=False)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "save.png", dpi=120)
