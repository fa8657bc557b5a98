#!/usr/bin/env python
"""
Rows that come day by day
=========================

They are added to a model, and models from two places are put together.

Look at the curves: the error falls as rows are added, and the model merged from two halves, each
of which saw only its own rows, is the model of all of them.
"""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor, merge
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure

data, test = (make_heteroscedastic(n, random_state=seed) for n, seed in ((3000, 0), (4000, 1)))
days = np.array_split(np.arange(3000), 30)


def error(model: ELMIntervalRegressor) -> float:
    """Return the error against the true mean."""
    return float(np.sqrt(np.mean((model.predict(test.X) - test.mean) ** 2)))


model = ELMIntervalRegressor({"linear": 1, "tanh": 30}, noise="squared", random_state=0)
first = model.partial_fit(data.X[days[0]], data.y[days[0]])
other, errors, halves = first.untrained(), [error(first)], [error(first)]
for number, day in enumerate(days[1:], start=1):
    place = other if number % 2 else first
    place.partial_fit(data.X[day], data.y[day])
    errors.append(error(merge(first, other)))
    halves.append(error(first))
both = merge(first, other).refresh(data.X, data.y)
interval = both.predict_interval(test.X, confidence_level=0.9)

figure = new_figure(10, 4.5)
left, right = figure.subplots(1, 2)
left.plot(errors, "o-", markersize=3, label="both places, merged")
left.plot(halves, "s-", markersize=3, label="one place alone")
left.set(xlabel="days of 100 rows", title="error of the mean", ylim=(0, None))
left.legend(frameon=False)
order = np.argsort(test.X[:, 0])
right.plot(test.X[order, 0], test.y[order], ".", color="0.7", markersize=2)
right.fill_between(test.X[order, 0], *interval[order].T, alpha=0.4)
right.set(xlabel="x", title="intervals after refresh, 90 %")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "updates.png", dpi=120)
