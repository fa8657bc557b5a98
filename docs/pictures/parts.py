#!/usr/bin/env python
"""The total variance is noise plus what the models themselves do not know."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic
from elmband.display import IntervalDisplay, new_figure

GAP = (-1.5, 0.5)
data = make_heteroscedastic(400, random_state=0)
kept = (data.X[:, 0] < GAP[0]) | (data.X[:, 0] > GAP[1])
X, y = data.X[kept], data.y[kept]
model = ELMIntervalRegressor(random_state=0).fit(X, y)
x = np.linspace(*DOMAIN, 300)
parts = model.predict_variance(x[:, None])

figure = new_figure(11, 3.8)
left, right = figure.subplots(1, 2)
IntervalDisplay.from_estimator(model, x[:, None], None, confidence_level=0.9, ax=left)
left.scatter(X, y, s=7, color="0.4", linewidths=0)
left.set(title="90 % intervals, no rows in the grey part")
names = ["noise", "mean model", "noise model"]
right.stackplot(x, parts.noise, parts.mean_model, parts.noise_model, labels=names, alpha=0.8)
right.set(title="variance in parts", xlabel="x")
right.legend(frameon=False, loc="upper left")
for ax in (left, right):
    ax.axvspan(*GAP, color="0.9", zorder=0)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "parts.svg", transparent=True)
