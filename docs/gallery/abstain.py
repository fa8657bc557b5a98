#!/usr/bin/env python
"""
A classifier that abstains
==========================

It answers the rows it is certain of, and says why not the others.

Look at the rows that are left out. On the right labels are noisy, at the top right no row was seen
in training, and along a line the classes meet: three reasons to ask a person. The curves show what
each rule is worth. A margin alone is largest in the corner that the model knows nothing of.
"""

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elmband import ELMSelectiveClassifier
from elmband.display import RiskCoverageDisplay, new_figure

Floats = NDArray[np.float64]
RULES = ("probability", "interval", "margin", "model")
COLORS = {"between classes": "tab:orange", "noisy here": "tab:red", "unlike training rows": "k"}


def rows(count: int, seed: int, corner: float) -> tuple[Floats, NDArray[np.int64]]:
    """Return inputs and classes; of rows in the corner at the top right a share is left out."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(count, 2))
    y = X[:, 1] > np.sin(2 * X[:, 0])
    y ^= rng.random(count) < np.where(X[:, 0] > 0, 0.3, 0.01)
    seen = (X.min(axis=1) < 1) | (rng.random(count) > corner)
    return X[seen], y[seen].astype(np.int64)


X, y = rows(2000, seed=0, corner=1.0)
X_new, y_new = rows(3000, seed=1, corner=0.0)
figure = new_figure(11, 4.8)
left, right = figure.subplots(1, 2)
for rule in RULES:
    model = ELMSelectiveClassifier(rank_by=rule, coverage=0.4, random_state=0).fit(X, y)
    RiskCoverageDisplay.from_estimator(model, X_new, y_new, name=rule, ax=right)
    if rule != "probability":
        continue
    found, told = model.triage(X_new), model.evaluate(X_new, y_new)
    for label, color in enumerate(("tab:blue", "tab:green")):
        taken = X_new[found.accepted & (found.label == label)]
        left.scatter(*taken.T, s=7, color=color, linewidths=0, label=f"answered: class {label}")
    for reason, color in COLORS.items():
        asked = X_new[found.reason == reason]
        left.scatter(*asked.T, s=12, color=color, marker="x", linewidths=0.6, label=reason)
    title = f"{100 * told.answered:.0f} % answered, {100 * told.error:.1f} % of these wrong"
    left.set(title=f"{title} (of all {100 * told.error_of_all:.0f} %)", xlabel="x", ylabel="z")
for ax, columns in ((left, 3), (right, 2)):
    below = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.12), "ncols": columns}
    ax.legend(**below, fontsize=8, frameon=False)
right.set(title="the most certain rows, by four rules", ylim=(-0.004, 0.2))
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "abstain.png", dpi=120)
