#!/usr/bin/env python
"""A promise about rows of the past says nothing of a future that drifts away."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure

DAYS, ROWS = 60, 100
data = make_heteroscedastic(DAYS * ROWS, random_state=0)
day = np.arange(DAYS * ROWS) // ROWS
y = data.y + 0.03 * np.maximum(day - 30, 0)
past = day < 20
train, held = past & (np.arange(len(y)) % 2 == 0), past & (np.arange(len(y)) % 2 == 1)
model = ELMIntervalRegressor(random_state=0).fit(data.X[train], y[train])
model.calibrate(data.X[held], y[held])
low, high = model.predict_interval(data.X, confidence_level=0.9).T
inside = ((low <= y) & (y <= high)).reshape(DAYS, ROWS).mean(axis=1)

figure = new_figure(7.5, 3.6)
ax = figure.subplots()
ax.plot(inside, "o", markersize=4)
ax.axhline(0.9, color="k", linestyle="--", linewidth=1, label="promised on average")
ax.axvspan(0, 19, color="0.9", zorder=0, label="days used for training and calibration")
ax.axvline(30, color="C3", linewidth=1, label="targets begin to drift")
ax.set(xlabel="day", ylabel="share of rows covered", ylim=(0, 1.02))
ax.legend(frameon=False, loc="lower left")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "drift.svg", transparent=True)
