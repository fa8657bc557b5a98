#!/usr/bin/env python
"""
Skewed noise
============

One width for both sides, or a tail of its own for each.

Look at the lower bound: delays have a long tail above and a hard edge below. A symmetric interval
must spend the same below as above; separate tails follow the true quantiles on either side.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elmband import ELMIntervalRegressor
from elmband.display import IntervalDisplay, new_figure
from elmband.metrics import interval_score, picp

Floats = NDArray[np.float64]
LEVEL = 0.9
QUANTILES = -np.log([0.95, 0.05])  # of the exponential distribution


def draw(n: int, seed: int) -> tuple[Floats, Floats]:
    """Return inputs and delays: exponential noise whose scale grows with x."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 4, size=n)
    return x[:, None], edge(x) + scale(x) * rng.exponential(size=n)


def edge(x: Floats) -> Floats:
    """Return the least delay possible."""
    return 2 * np.sin(x)


def scale(x: Floats) -> Floats:
    """Return the mean of the noise."""
    return 0.2 + 0.4 * x


X, y = draw(600, 0)
X_test, y_test = draw(5000, 1)
x = np.linspace(0, 4, 300)
figure = new_figure(10, 4.5)
for ax, symmetric in zip(figure.subplots(1, 2, sharey=True), (True, False), strict=True):
    model = ELMIntervalRegressor(symmetric=symmetric, random_state=0).fit(X, y)
    IntervalDisplay.from_estimator(model, x[:, None], None, confidence_level=LEVEL, ax=ax)
    ax.scatter(X, y, s=5, color="0.2", alpha=0.4, linewidths=0, label="rows")
    for q, label in zip(QUANTILES, ("true 5 % and 95 % quantile", None), strict=True):
        ax.plot(x, edge(x) + q * scale(x), "k--", linewidth=1, label=label)
    interval = model.predict_interval(X_test, LEVEL)
    score = interval_score(y_test, interval, confidence_level=LEVEL)
    covered = 100 * picp(y_test, interval)
    ax.set(title=f"symmetric={symmetric}: covers {covered:.1f} %, interval score {score:.2f}")
    ax.legend(frameon=False)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "asymmetric.png", dpi=120)
