#!/usr/bin/env python
"""What an ELM is: random neurons, weighted by least squares, added up."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic, projection
from elmband.display import new_figure

data = make_heteroscedastic(200, random_state=0)
model = ELMRegressor(8, alpha=0.1, weight_scale=1.5, random_state=4).fit(data.X, data.y)

x = np.linspace(*DOMAIN, 300)
# Layers work on standardised inputs, output weights on standardised targets.
H = model.hidden_(((x - data.X.mean()) / data.X.std())[:, None])
parts = H * model.coef_ * data.y.std()

figure = new_figure(11, 3.6)
left, middle, right = figure.subplots(1, 3)
left.plot(x, H)
left.set(title="1. random neurons h(x), never trained", xlabel="x")
middle.plot(x, parts)
middle.set(title="2. each times its weight β", xlabel="x")
right.scatter(data.X, data.y, s=7, color="0.6", linewidths=0, label="rows")
right.plot(x, model.predict(x[:, None]), color="C0", linewidth=2, label="their sum, ŷ = hβ")
right.plot(x, projection(x), "k--", linewidth=1, label="truth")
right.set(title="3. added up", xlabel="x")
right.legend(frameon=False, loc="upper left")
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "elm.svg", transparent=True)
