#!/usr/bin/env python
"""
The default model
=================

Its intervals on data whose true intervals are known.

Look at the width: the band should follow the dashed lines, narrow on the left, wide around x = 1.
Below stand the half-widths alone, estimated and true.
"""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std, projection
from elmband.display import IntervalDisplay, new_figure
from elmband.metrics import picp

LEVEL, Z = 0.9, 1.645
train = make_heteroscedastic(500, random_state=0)
test = make_heteroscedastic(5000, random_state=1)
model = ELMIntervalRegressor(random_state=0).fit(train.X, train.y)

x = np.linspace(*DOMAIN, 300)
low, high = model.predict_interval(x[:, None], LEVEL).T
truth = Z * noise_std(x)

figure = new_figure(7, 6.5)
top, bottom = figure.subplots(2, sharex=True, height_ratios=[2, 1])
IntervalDisplay.from_estimator(model, x[:, None], None, confidence_level=LEVEL, ax=top)
top.scatter(train.X, train.y, s=8, color="0.2", alpha=0.5, linewidths=0, label="rows")
top.plot(x, projection(x) - truth, "k--", linewidth=1, label="true interval")
top.plot(x, projection(x) + truth, "k--", linewidth=1)
covered = picp(test.y, model.predict_interval(test.X, LEVEL))
title = f"500 rows; the 90 % interval covers {100 * covered:.1f} % of 5,000 new rows"
top.set(title=title, xlabel="")
top.legend(frameon=False)
bottom.plot(x, (high - low) / 2, label="estimated")
bottom.plot(x, truth, "k--", linewidth=1, label="true")
bottom.set(xlabel="x", ylabel="half-width", ylim=(0, None))
bottom.legend(frameon=False)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "intervals.png", dpi=120)
