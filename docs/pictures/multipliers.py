#!/usr/bin/env python
"""Multipliers of the normal distribution, and those that rows left out call for."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure
from elmband.metrics import picp

LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
DRAWS, ROWS = 20, 80
NEURONS = {"linear": 1, "tanh": 20}
test = make_heteroscedastic(2000, random_state=999)
kinds = {
    "as published": {"noise": "squared", "calibration": "gaussian"},
    "log-variance, multipliers of the normal": {"calibration": "gaussian"},
    "log-variance, multipliers from rows left out": {},
}
figure = new_figure(7.5, 4.4)
ax = figure.subplots()
for shift, (name, options) in enumerate(kinds.items()):
    covered = np.zeros((DRAWS, len(LEVELS)))
    for draw in range(DRAWS):
        data = make_heteroscedastic(ROWS, random_state=draw)
        model = ELMIntervalRegressor(NEURONS, random_state=0, **options).fit(data.X, data.y)
        interval = model.predict_interval(test.X, LEVELS)
        covered[draw] = [picp(test.y, interval[:, :, k]) for k in range(len(LEVELS))]
    low, middle, high = np.quantile(covered, [0.1, 0.5, 0.9], axis=0)
    spread = [middle - low, high - middle]
    ax.errorbar(LEVELS + 0.008 * (shift - 1), middle, spread, fmt="o", markersize=4, label=name)
ax.plot(LEVELS, LEVELS, "k--", linewidth=1, label="as asked")
ax.set(xlabel="confidence_level", ylabel="share of new rows covered")
ax.set(title=f"{DRAWS} draws of {ROWS} rows; bars span eight of ten draws")
ax.legend(frameon=False)
figure.savefig(
    Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "multipliers.svg", transparent=True
)
