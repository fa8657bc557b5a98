#!/usr/bin/env python
"""
Positive targets
================

As they are, and through a logarithm that is mapped back.

Look at the lower bound: without the transform the interval of a price goes below zero. With it
the interval is one of factors, and so is never negative and longer above than below. The line is
then the median, which lies below the mean where noise is skewed.
"""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std, projection
from elmband.display import IntervalDisplay, new_figure
from elmband.metrics import interval_score, picp

LEVEL, Z = 0.9, 1.645
train, test = make_heteroscedastic(200, random_state=0), make_heteroscedastic(5000, random_state=1)
x = np.linspace(*DOMAIN, 300)

figure = new_figure(10, 4.5)
for ax, transform in zip(figure.subplots(1, 2, sharey=True), (None, "log"), strict=True):
    model = ELMIntervalRegressor(target_transform=transform, random_state=0)
    model.fit(train.X, np.exp(train.y))
    mean, interval = model.predict(x[:, None], confidence_level=LEVEL)
    display = IntervalDisplay(x, None, mean, interval, confidence_level=LEVEL, y_label="price")
    display.plot(ax=ax).line_.set_label("predicted median" if transform else "predicted mean")
    ax.scatter(train.X, np.exp(train.y), s=6, color="0.2", alpha=0.4, linewidths=0, label="rows")
    for sign, label in ((-1, "true interval"), (1, None)):
        bound = np.exp(projection(x) + sign * Z * noise_std(x))
        ax.plot(x, bound, "k--", linewidth=1, label=label)
    ax.axhline(0, color="tab:red", linewidth=0.8)
    interval = model.predict_interval(test.X, LEVEL)
    score = interval_score(np.exp(test.y), interval, confidence_level=LEVEL)
    covered = 100 * picp(np.exp(test.y), interval)
    title = f"target_transform={transform!r}: covers {covered:.1f} %, interval score {score:.2f}"
    ax.set_title(title, fontsize="medium")
    ax.legend(frameon=False, loc="upper left")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "transform.png", dpi=120)
