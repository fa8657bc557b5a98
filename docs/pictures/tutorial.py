#!/usr/bin/env python
"""The picture of the tutorial, by its own lines."""

import sys
from pathlib import Path

from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from elmband import ELMIntervalRegressor
from elmband.display import IntervalDisplay, new_figure

X, y = load_diabetes(return_X_y=True, as_frame=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
model = ELMIntervalRegressor(random_state=0).fit(X_train, y_train)
ax = new_figure(9, 4).subplots()
display = IntervalDisplay.from_estimator(model, X_test, y_test, confidence_level=0.9, ax=ax)
display.figure_.savefig(
    Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "tutorial.svg", transparent=True
)
