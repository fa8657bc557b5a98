#!/usr/bin/env python
"""
What a variance is made of
==========================

Along an input with a gap in the data.

Look at the gap: the part of the mean model says "no rows here". The noise is interpolated there
and may be wrong, as it is on the right of this gap: compare it with the dashed line. Around x = 2,
where rows are many and noisy, nearly all of the variance is noise, which more rows cannot make
smaller.
"""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, noise_std
from elmband.display import IntervalDisplay, new_figure

GAP = (-1.5, 0.5)
data = make_heteroscedastic(400, random_state=0)
kept = (data.X[:, 0] < GAP[0]) | (data.X[:, 0] > GAP[1])
X, y = data.X[kept], data.y[kept]
model = ELMIntervalRegressor(random_state=0).fit(X, y)

x = np.linspace(*DOMAIN, 300)
parts = model.predict_variance(x[:, None])

figure = new_figure(7, 7)
top, bottom = figure.subplots(2, sharex=True)
IntervalDisplay.from_estimator(model, x[:, None], None, confidence_level=0.9, ax=top)
top.scatter(X, y, s=8, color="0.2", alpha=0.5, linewidths=0, label="rows")
top.legend(frameon=False)
top.set(title="No rows in the shaded part", xlabel="")
# As standard deviations: variances would hide all but the largest.
bottom.plot(x, np.sqrt(parts.total), color="0.5", linewidth=3, label="total")
bottom.plot(x, np.sqrt(parts.noise), color="tab:orange", label="noise")
bottom.plot(x, np.sqrt(parts.mean_model), color="tab:blue", label="mean_model")
bottom.plot(x, np.sqrt(parts.noise_model), color="tab:green", label="noise_model")
bottom.plot(x, noise_std(x), "k--", linewidth=1, label="true noise")
bottom.set(xlabel="x", ylabel="square root of each part", ylim=(0, None))
bottom.legend(frameon=False)
for ax in (top, bottom):
    ax.axvspan(*GAP, color="0.93", zorder=0)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "variance_parts.png", dpi=120)
