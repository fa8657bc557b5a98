#!/usr/bin/env python
"""
Rows that come in groups
========================

Eight measurements of each of forty patients.

Look at the width. Rows of a patient lie close together and share a deviation that the next
patient does not have. Left out one by one, a row is predicted by its siblings, and the interval
holds for a ninth measurement only. With groups= whole patients are left out.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, projection
from elmband.display import IntervalDisplay, new_figure
from elmband.metrics import picp

Floats = NDArray[np.float64]
LEVEL = 0.9


def patients(count: int, rows: int, seed: int) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Return inputs, targets and labels of patients, each with a deviation of their own."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(count), rows)
    x = rng.uniform(*DOMAIN, size=count)[label] + 0.03 * rng.standard_normal(count * rows)
    own = 0.5 * rng.standard_normal(count)[label]
    return x[:, None], projection(x) + own + 0.1 * rng.standard_normal(count * rows), label


X, y, label = patients(40, 8, seed=0)
X_new, y_new, _ = patients(2000, 1, seed=1)
x = np.linspace(*DOMAIN, 400)
figure = new_figure(10, 4.5)
for ax, groups in zip(figure.subplots(1, 2, sharey=True), (None, label), strict=True):
    model = ELMIntervalRegressor(random_state=0).fit(X, y, groups=groups)
    IntervalDisplay.from_estimator(model, x[:, None], None, confidence_level=LEVEL, ax=ax)
    ax.scatter(X, y, s=6, c=label % 10, cmap="tab10", linewidths=0, label="rows, by patient")
    ax.plot(x, projection(x), "k--", linewidth=1, label="truth without patients")
    covered = 100 * picp(y_new, model.predict_interval(X_new, LEVEL))
    name = "without groups" if groups is None else "groups=patient"
    ax.set(title=f"{name}: covers {covered:.0f} % of new patients")
    ax.legend(frameon=False, loc="upper left")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "groups.png", dpi=120)
