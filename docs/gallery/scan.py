#!/usr/bin/env python
"""
Rows in files
=============

More than anyone wants in memory: trained on, predicted and judged in chunks.

Look at the right: the file of results holds one interval for every row of the files, and the
coverage in each tenth of the rows by predicted width stays near what was asked for, narrow or wide.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from elmband import ELMIntervalRegressor, scan
from elmband.datasets import make_heteroscedastic
from elmband.display import new_figure

figure = new_figure(10, 4.5)
left, right = figure.subplots(1, 2)
with TemporaryDirectory() as name:
    folder = Path(name)
    for part in range(4):
        data = make_heteroscedastic(20_000, random_state=part)
        np.save(folder / f"part-{part}.npy", np.column_stack([data.X, data.y]))
    train = scan([folder / f"part-{part}.npy" for part in range(3)], target=-1)
    model = ELMIntervalRegressor({"linear": 1, "tanh": 30}, random_state=0).fit(train)

    test = folder / "part-3.npy"
    scores = model.evaluate(scan(test, target=-1), confidence_level=0.9)
    result = model.predict_interval(scan(test, features=[0]), 0.9, out=folder / "result.npy")
    x, y = np.load(test).T
    mean, lower, upper = np.load(result).T

order = np.argsort(x)[::20]
left.plot(x[order], y[order], ".", color="0.6", markersize=2)
left.plot(x[order], mean[order], color="C0")
left.fill_between(x[order], lower[order], upper[order], alpha=0.3)
left.set(xlabel="x", title=f"{scores.n:,.0f} new rows, {scores.levels[0].coverage:.1%} covered")
inside, width = (lower <= y) & (y <= upper), upper - lower
tenths = np.array_split(np.argsort(width), 10)
right.plot([width[t].mean() for t in tenths], [inside[t].mean() for t in tenths], "o")
right.axhline(0.9, color="k", linestyle="--", linewidth=1)
right.set(xlabel="width of the interval", title="share covered, by tenths of width", ylim=(0.8, 1))
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "scan.png", dpi=120)
