#!/usr/bin/env python
"""
A promise, and whether it is kept
=================================

With 95 % confidence at most 15 % of the answered rows are wrong, patient by patient.

Look at the bars above the limit: promises that were broken on new patients, each of them made with
100 others. Forty measurements of a patient share a deviation. Counted as if they were independent
they promise what cannot be kept; with groups= patients are counted.
"""

import sys
from pathlib import Path
from textwrap import fill

import numpy as np
from numpy.typing import NDArray

from elmband import ELMSelectiveClassifier
from elmband.display import RiskCoverageDisplay, new_figure

Floats, Ints = NDArray[np.float64], NDArray[np.int64]
LIMIT, DRAWS = 0.15, 40


def patients(count: int, rows: int, seed: int) -> tuple[Floats, Ints, Ints]:
    """Return measurements, classes and labels of patients, each with a deviation of their own."""
    rng = np.random.default_rng(seed)
    label = np.repeat(np.arange(count), rows)
    X = rng.uniform(-3, 3, size=(count * rows, 2))
    own = 2.5 * rng.standard_normal(count)[label]
    return X, (X[:, 0] + X[:, 1] ** 2 - 2 + own > 0).astype(np.int64), label


X, y, label = patients(100, 40, seed=0)
X_new, y_new, _ = patients(4000, 4, seed=1)
model = ELMSelectiveClassifier(60, max_error=LIMIT, random_state=0).fit(X, y, groups=label)
figure = new_figure(10.5, 5.2)
left, right = figure.subplots(1, 2, sharey=True)
RiskCoverageDisplay.from_estimator(model, X_new, y_new, ax=left, name="new patients", color="0.3")
bins = np.linspace(0.06, 0.22, 33)
for name, color, grouped in (("rows", "tab:orange", False), ("patients", "tab:blue", True)):
    errors = []
    for seed in range(2, 2 + DRAWS):
        X_held, y_held, label = patients(100, 40, seed)
        try:
            model.calibrate(X_held, y_held, groups=label if grouped else None)
        except ValueError:  # These patients are too few to promise it.
            continue
        errors.append(model.evaluate(X_new, y_new).error)
    text = f"counting {name}: {np.sum(np.array(errors) > LIMIT)} of {len(errors)} broken"
    right.hist(errors, bins, orientation="horizontal", color=color, alpha=0.6, label=text)
for ax in (left, right):
    ax.axhline(LIMIT, color="k", linestyle="--", linewidth=1, label="limit")
    ax.legend(frameon=False, loc="lower right")
right.set(xlabel="promises", title="what became of promises")
left.set(title="errors of the most certain rows")
figure.suptitle(fill(model.statement_, 110), fontsize=10)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "promise.png", dpi=120)
