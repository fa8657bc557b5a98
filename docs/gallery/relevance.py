#!/usr/bin/env python
"""
What the mean depends on, what the noise depends on
===================================================

Of eight inputs, three move the mean and another one the noise.

Look at x3: it does nothing to the mean, and nearly all to the noise. A look at the mean alone
would call it useless. Diamonds are the true shares, those of the squared derivatives. Below the
bars are the directions in which the mean changes: sin 3x₀ is one, and the product of x₁ and x₂
changes in two, which have about the same share and may be any two that span the same plane.
"""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.display import RelevanceDisplay, new_figure

rng = np.random.default_rng(0)
X = rng.standard_normal((2000, 8))
noise = 0.1 * np.exp(0.8 * X[:, 3])
y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + noise * rng.standard_normal(2000)
model = ELMIntervalRegressor(random_state=0).fit(X, y)

figure = new_figure(7, 5.2)
display = RelevanceDisplay.from_estimator(model, directions=True, ax=figure.add_subplot())
# E[9 cos² 3x₀] = 4.5 and E[x₂²] = E[x₁²] = 1; the log-variance changes with x₃ only.
true = {"mean": {"x0": 4.5 / 6.5, "x1": 1 / 6.5, "x2": 1 / 6.5}, "noise": {"x3": 1.0}}
for name, bars in display.bars_.items():
    for bar, feature in zip(bars, display.names_, strict=True):
        middle = bar.get_y() + bar.get_height() / 2
        if feature in true[name]:
            display.ax_.plot(true[name][feature], middle, "D", color="white", mec="black")
display.ax_.set_xlim(0, 1.04)
display.ax_.set_title("y = sin 3x₀ + x₁x₂ + exp(0.8 x₃) ε; diamonds are the truth")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "relevance.png", dpi=120)
