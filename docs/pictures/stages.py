#!/usr/bin/env python
"""Two stages: one model of the mean, a second one of the squared residuals of the first."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std
from elmband.display import new_figure

data = make_heteroscedastic(400, random_state=0)
neurons = {"linear": 1, "tanh": 10}
published = ELMIntervalRegressor(neurons, noise="squared", calibration="gaussian", random_state=0)
default = ELMIntervalRegressor(neurons, random_state=0)
for model in (published, default):
    model.fit(data.X, data.y)

x = np.linspace(*DOMAIN, 300)[:, None]
residuals = data.y - published.predict(data.X)
figure = new_figure(11, 3.6)
left, right = figure.subplots(1, 2)
left.scatter(data.X, data.y, s=7, color="0.6", linewidths=0, label="rows")
left.plot(x, published.predict(x), color="C0", linewidth=2, label="first model: ŷ")
left.set(title="1. the mean", xlabel="x")
right.scatter(data.X, residuals**2, s=7, color="0.6", linewidths=0, label="squared residuals")
right.plot(x, noise_std(x) ** 2, "k--", linewidth=1, label="true noise variance")
right.plot(x, published.predict_variance(x).noise, color="C1", label="second model, as published")
right.plot(x, default.predict_variance(x).noise, color="C2", label="second model, log-variance")
right.set(title="2. the noise", xlabel="x", ylim=(-0.03, 1.1))
for ax in (left, right):
    ax.legend(frameon=False, loc="upper left")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "stages.svg", transparent=True)
