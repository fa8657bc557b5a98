#!/usr/bin/env python
"""
Far from the training rows
==========================

The default model against the published one.

Look outside the shaded part. No model knows what happens there, and its interval should say so by
growing with the distance. The published interval hardly grows. That of the default does in most
draws of the data, on the right, but how fast depends on the layers that were chosen. Growing is
not covering: an interval made of smooth layers does not foresee that the truth turns.
"""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, projection
from elmband.display import IntervalDisplay, new_figure

LEVEL = 0.9
published = {"noise": "squared", "calibration": "gaussian"}
x = np.linspace(-6, 6, 401)
figure = new_figure(12, 4.2)
*axes, last = figure.subplots(1, 3)
last.axvspan(*DOMAIN, color="0.93", zorder=0)
kinds = (("default", {}, "tab:blue"), ("as published", published, "tab:orange"))
for ax, (name, options, color) in zip(axes, kinds, strict=True):
    for seed in range(5):
        data = make_heteroscedastic(300, random_state=seed)
        model = ELMIntervalRegressor(random_state=0, **options).fit(data.X, data.y)
        mean, interval = model.predict(x[:, None], confidence_level=LEVEL)
        half = (interval[:, 1] - interval[:, 0]) / 2
        last.semilogy(x, half, color=color, linewidth=0.8, label=None if seed else name)
        if seed:
            continue
        display = IntervalDisplay(x, None, mean, interval, confidence_level=LEVEL)
        display.plot(ax=ax, color=color, legend=False)
        ax.scatter(data.X, data.y, s=6, color="0.2", alpha=0.5, linewidths=0, label="rows")
        ax.plot(x, projection(x), "k--", linewidth=1, label="truth")
        ax.axvspan(*DOMAIN, color="0.93", zorder=0)
        ax.set(title=name, ylim=(-8, 8))
        ax.legend(frameon=False, loc="upper left")
last.set(title="half-widths, five draws of the data", xlabel="x")
last.legend(frameon=False, loc="upper center")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "off_distribution.png", dpi=120)
