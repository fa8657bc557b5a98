#!/usr/bin/env python
"""The published sum taken literally, for the same targets in three units."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std
from elmband.display import new_figure

Z = 1.645
data, test = (make_heteroscedastic(n, random_state=n) for n in (300, 5000))
x = np.linspace(*DOMAIN, 300)[:, None]
figure = new_figure(11, 3.8)
axes = figure.subplots(1, 2, sharey=True)
for unit, factor in {"metres": 1, "decimetres": 10, "centimetres": 100}.items():
    model = ELMIntervalRegressor(
        {"linear": 1, "tanh": 10}, noise="squared", calibration="gaussian", random_state=0
    ).fit(data.X, factor * data.y)
    # Inside, targets have a deviation of one. Without that, σ_r² grows by its fourth power.
    scale = np.var(factor * data.y)
    for ax, literal in zip(axes, (True, False), strict=True):
        half = []
        for X in (x, test.X):
            parts = model.predict_variance(X)
            extra = parts.noise_model * (scale if literal else 1)
            half.append(Z * np.sqrt(parts.noise + parts.mean_model + extra) / factor)
        error = np.abs(test.y - model.predict(test.X) / factor)
        label = f"{unit}: covers {100 * np.mean(error <= half[1]):.1f} %"
        ax.semilogy(x, half[0], label=label)
for ax, name in zip(axes, ("the sum taken literally", "targets standardised first"), strict=True):
    ax.semilogy(x, Z * noise_std(x), "k--", linewidth=1, label="truth")
    ax.set(title=name, xlabel="x")
    ax.legend(frameon=False)
axes[0].set(ylabel="half-width at 90 %, in metres")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "units.svg", transparent=True)
