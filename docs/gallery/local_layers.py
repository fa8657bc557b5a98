#!/usr/bin/env python
"""
A layer for every day
=====================

Every day has a curve and a noise of its own, which neurons shared by all days cannot follow.

Look at the three days: without local layers (dashed) all get nearly the same curve, and an interval
that is too wide on calm days. With them (band) each day has its own. Dots are rows that the model
has not seen, the thin line is the truth.
"""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.display import new_figure

DAYS = 50
rng = np.random.default_rng(0)
height, phase, noise = rng.normal(size=DAYS), rng.uniform(0, 6, DAYS), rng.uniform(0.1, 0.8, DAYS)


def truth(hour: np.ndarray, day: np.ndarray) -> np.ndarray:
    """Return the mean of a day at an hour."""
    return height[day] + np.sin(hour / 4 + phase[day])


def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return hours and days, and a target."""
    hour, day = rng.uniform(0, 24, n), rng.integers(DAYS, size=n)
    y = truth(hour, day) + noise[day] * rng.normal(size=n)
    return np.column_stack([hour, day]), y


X, y = draw(12_000)
X_new, y_new = draw(4_000)
options = {"random_state": 0, "learning_rounds": 0}
model = ELMIntervalRegressor(**options).fit(X, y)
shared = ELMIntervalRegressor(**options, local_layers=None).fit(X, y)

figure = new_figure(9, 3.2)
axes = figure.subplots(1, 3, sharey=True)
hours = np.linspace(0, 24, 200)
for ax, day in zip(axes, np.argsort(noise)[[0, DAYS // 2, DAYS - 1]], strict=True):
    grid = np.column_stack([hours, np.full(200, float(day))])
    low, high = model.predict_interval(grid, confidence_level=0.9).T
    ax.fill_between(hours, low, high, alpha=0.3, label="90 %, local layers")
    ax.plot(hours, shared.predict_interval(grid, confidence_level=0.9), "--", color="0.5", lw=1)
    ax.plot(hours, truth(hours, day), color="black", lw=0.8)
    here = X_new[:, 1] == day
    ax.plot(X_new[here, 0], y_new[here], ".", ms=3, color="tab:red")
    ax.set_title(f"day {day}, noise {noise[day]:.2f}")
    ax.set_xlabel("hour")
axes[0].legend(loc="lower left", fontsize=8)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "local_layers.png", dpi=120)
