#!/usr/bin/env python
"""
Sixty rows, with and without a guarantee
========================================

All of them for training, or half of them held out for a guarantee.

Look at the bars, which span eight of ten draws of the data. Leave-one-out is an estimate without
a guarantee, but all rows train and all calibrate: its coverage varies less. Split conformal is
right on average whatever the model, but half of the rows are few: a single draw may cover much
less than asked, and at 95 % the widest of thirty errors decides on the width.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure
from elmband.metrics import picp

Floats = NDArray[np.float64]
LEVELS = np.array([0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
DRAWS, ROWS = 30, 60
test = make_heteroscedastic(2000, random_state=999)


def left_out(X: Floats, y: Floats) -> ELMIntervalRegressor:
    """Train on all rows; multipliers come from rows left out."""
    return ELMIntervalRegressor({"linear": 1, "tanh": 20}, random_state=0).fit(X, y)


def held_out(X: Floats, y: Floats) -> ELMIntervalRegressor:
    """Train on half of the rows; multipliers come from the other half."""
    return left_out(X[::2], y[::2]).calibrate(X[1::2], y[1::2])


figure = new_figure(10, 4.5)
left, right = figure.subplots(1, 2)
for shift, (name, fit) in enumerate({"leave-one-out": left_out, "split": held_out}.items()):
    coverage, width = np.zeros((2, DRAWS, len(LEVELS)))
    for draw in range(DRAWS):
        data = make_heteroscedastic(ROWS, random_state=draw)
        interval = fit(data.X, data.y).predict_interval(test.X, LEVELS)
        coverage[draw] = [picp(test.y, interval[:, :, k]) for k in range(len(LEVELS))]
        width[draw] = (interval[:, 1] - interval[:, 0]).mean(axis=0)
    for ax, values in ((left, coverage), (right, width)):
        low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], axis=0)
        at = LEVELS + 0.008 * (2 * shift - 1)
        ax.errorbar(at, middle, [middle - low, high - middle], fmt="o", markersize=4, label=name)
left.plot(LEVELS, LEVELS, "k--", linewidth=1, label="as asked")
left.set(xlabel="confidence_level", title=f"coverage of new rows, {DRAWS} draws of {ROWS} rows")
right.set(xlabel="confidence_level", title="mean width", ylim=(0, None))
for ax in (left, right):
    ax.legend(frameon=False, loc="upper left")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "calibrate.png", dpi=120)
