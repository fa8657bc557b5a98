#!/usr/bin/env python
"""
Two pictures of a model
=======================

Whether it keeps its levels, and what its uncertainty is made of.

Look at the curves on top: the model keeps its levels over all rows, and where the noise is small
and where it is large; a constant width would be too wide for one half and too narrow for the
other. Bands are what chance alone does. At the bottom, the gap between the rows is where the mean
is uncertain, which more rows would mend; the rest is noise, which they would not.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std
from elmband.display import IntervalCalibrationDisplay, VariancePartsDisplay, new_figure

GAP = (-1.5, 0.5)
LEVELS = np.arange(0.05, 1.0, 0.05)


def rows(seed: int, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return rows of which none is in the gap."""
    data = make_heteroscedastic(count, random_state=seed)
    kept = (data.X[:, 0] < GAP[0]) | (data.X[:, 0] > GAP[1])
    return data.X[kept], data.y[kept]


model = ELMIntervalRegressor(random_state=0).fit(*rows(0, 1500))
X, y = rows(1, 1200)
noise = np.where(noise_std(X[:, 0]) < np.median(noise_std(X[:, 0])), "small noise", "large noise")
width = np.quantile(np.abs(y - model.predict(X)), LEVELS)
constant = model.predict(X)[:, None, None] + np.array([-1, 1])[:, None] * width

figure = new_figure(9, 8)
top, bottom = figure.subfigures(2)
left, right = top.subplots(1, 2)
IntervalCalibrationDisplay.from_estimator(model, X, y, groups=noise, ax=left)
left.set_title("intervals of the model")
IntervalCalibrationDisplay.from_predictions(
    y, constant, confidence_levels=LEVELS, groups=noise, ax=right
)
right.set_title("intervals of constant width")
left, right = bottom.subplots(1, 2)
grid = np.linspace(*DOMAIN, 1000)[:, None]
VariancePartsDisplay.from_estimator(model, grid, ax=left)
left.axvspan(*GAP, color="0.85", zorder=0)
left.set_title("along x, no rows in the grey part")
VariancePartsDisplay.from_predictions(model.predict_variance(X), ax=right)
right.set_title("rows to predict, sorted")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "displays.png", dpi=120)
