#!/usr/bin/env python
"""Three things that are called an interval."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std, projection
from elmband.display import new_figure

Z = 1.645
data = make_heteroscedastic(500, random_state=0)
model = ELMIntervalRegressor(random_state=0).fit(data.X, data.y)
x = np.linspace(*DOMAIN, 300)
mean = model.predict(x[:, None])
low, high = model.predict_interval(x[:, None], confidence_level=0.9).T
one = Z * np.sqrt(np.mean((data.y - model.predict(data.X)) ** 2))
sure = Z * np.sqrt(model.predict_variance(x[:, None]).mean_model)
kinds = {
    "one width for all": (mean - one, mean + one),
    "confidence interval of the mean": (mean - sure, mean + sure),
    "prediction interval of each row": (low, high),
}
figure = new_figure(11, 3.6)
for ax, (title, bounds) in zip(figure.subplots(1, 3, sharey=True), kinds.items(), strict=True):
    ax.scatter(data.X, data.y, s=5, color="0.6", linewidths=0)
    ax.fill_between(x, *bounds, alpha=0.4)
    for sign in (-1, 1):
        ax.plot(x, projection(x) + sign * Z * noise_std(x), "k--", linewidth=0.8)
    ax.set(title=title, xlabel="x")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "kinds.svg", transparent=True)
