#!/usr/bin/env python
"""The picture of the first page: what is decided, and what is left to a person."""

import sys
from pathlib import Path

import numpy as np

from elmband import ELMIntervalRegressor
from elmband.datasets import DOMAIN, make_heteroscedastic
from elmband.display import new_figure

train, new = make_heteroscedastic(1000, random_state=0), make_heteroscedastic(150, random_state=1)
model = ELMIntervalRegressor(random_state=0).fit(train.X, train.y)
taken = model.accept(new.X, max_width=1.2, confidence_level=0.9)
x = np.linspace(*DOMAIN, 300)

figure = new_figure(9, 3.6)
ax = figure.subplots()
for level, alpha in ((0.9, 0.2), (0.5, 0.35)):
    bounds = model.predict_interval(x[:, None], confidence_level=level)
    ax.fill_between(x, *bounds.T, color="C0", alpha=alpha, linewidth=0, label=f"{level:.0%}")
ax.plot(x, model.predict(x[:, None]), color="C0", linewidth=2)
ax.scatter(new.X[taken], new.y[taken], s=22, color="C2", label="narrow enough: decided")
ax.scatter(new.X[~taken], new.y[~taken], s=22, color="C1", marker="x", label="for a person")
ax.legend(frameon=False, loc="upper left", ncols=2)
ax.set(xticks=[], yticks=[])
ax.spines[:].set_visible(False)
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "hero.svg", transparent=True)
