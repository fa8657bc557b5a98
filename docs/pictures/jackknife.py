#!/usr/bin/env python
"""The weighted jackknife by brute force, a refit for each row, and in closed form from one fit."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic
from elmband.display import new_figure

ROWS, ALPHA = 60, 1e-3
data = make_heteroscedastic(ROWS, random_state=3)
options = {"noise": "squared", "calibration": "gaussian", "alpha": ALPHA, "random_state": 0}
model = ELMIntervalRegressor({"linear": 1, "tanh": 6}, **options).fit(data.X, data.y)
x = np.linspace(*DOMAIN, 200)[:, None]
fitted = model.predict(x)

# Layers work on standardised inputs, output weights on standardised targets.
H, H_x = (model.hidden_((X - data.X.mean()) / data.X.std()) for X in (data.X, x))
t = (data.y - data.y.mean()) / data.y.std()
refits, squares = [], np.zeros(len(x))
for row in range(ROWS):
    rest = np.arange(ROWS) != row
    beta = np.linalg.solve(H[rest].T @ H[rest] + ALPHA * np.eye(7), H[rest].T @ t[rest])
    refits.append(data.y.mean() + data.y.std() * H_x @ beta)
    # The weight of a row, 1 - lev, is how much its residual shrinks when the row takes part.
    weight = (t[row] - H[row] @ model.coef_) / (t[row] - H[row] @ beta)
    squares += weight * (refits[-1] - fitted) ** 2

figure = new_figure(11, 3.8)
left, right = figure.subplots(1, 2)
left.plot(x, np.transpose(refits), color="C0", linewidth=0.7, alpha=0.6)
left.plot(data.X, data.y, "o", color="0.3", markersize=4)
left.set(title=f"{ROWS} fits, each without one row", xlabel="x")
right.plot(x, np.sqrt(squares), color="C0", linewidth=3, alpha=0.5, label=f"from {ROWS} refits")
closed = np.sqrt(model.predict_variance(x).mean_model)
right.plot(x, closed, "k--", linewidth=1.2, label="closed form, from one fit")
right.plot(data.X, np.zeros(ROWS), "|", color="0.3", markersize=9, label="rows")
right.set(title="standard deviation of the mean", xlabel="x", ylim=(0, None))
right.legend(frameon=False)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "jackknife.svg", transparent=True)
