#!/usr/bin/env python
"""
Text, dates and gaps
====================

A table of numbers, text, dates and missing values, as people have it, to intervals.

Look at the left: one carrier is slow at weekends and the other is not to be relied on at any time,
and the intervals know both from columns of text and dates. On the right, rows with an unknown
distance have wider intervals, for they have a column of their own to tell, and cover as many.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from elmband import ELMIntervalRegressor
from elmband.display import new_figure


def orders(n_rows: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Return orders with what is known of them, and the hours until they arrive."""
    rng = np.random.default_rng(seed)
    distance = rng.gamma(3, 60, n_rows)
    carrier = rng.choice(["Swift", "Snail", "a van"], n_rows, p=[0.6, 0.38, 0.02])
    ordered = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 500, n_rows), "D")
    weekend = np.asarray(ordered.day_of_week >= 5)
    noise = np.where(carrier == "Snail", 6, 1) * rng.normal(size=n_rows)
    hours = 10 + distance / 15 + 12 * weekend * (carrier == "Swift") + noise
    known = np.where(rng.random(n_rows) < 0.1, np.nan, distance)
    return pd.DataFrame({"distance": known, "carrier": carrier, "ordered": ordered}), hours


train, hours = orders(4000, seed=0)
model = ELMIntervalRegressor(random_state=0).fit(train, hours)

figure = new_figure(11, 4.5)
left, right = figure.subplots(1, 2)
days = pd.date_range("2024-04-01", periods=21, freq="D")
for colour, carrier in (("C0", "Swift"), ("C1", "Snail")):
    table = pd.DataFrame({"distance": 180.0, "carrier": carrier, "ordered": days})
    mean, bounds = model.predict(table, confidence_level=0.9)
    left.plot(days, mean, color=colour, label=carrier)
    left.fill_between(days, *bounds.T, color=colour, alpha=0.25)
left.set(ylabel="hours", title="90 % intervals for three weeks of orders, 180 km")
left.set_xticks(days[::7], days[::7].strftime("%a %d %b"))
left.legend()

new, truth = orders(2000, seed=1)
bounds = model.predict(new, confidence_level=0.9)[1]
missing = new.distance.isna()
for colour, label, rows in (("0.5", "known", ~missing), ("C3", "missing", missing)):
    inside = (bounds[rows, 0] <= truth[rows]) & (truth[rows] <= bounds[rows, 1])
    text = f"distance {label}: {inside.mean():.0%} of {rows.sum()} covered"
    how = {"bins": 40, "density": True, "alpha": 0.7, "color": colour, "label": text}
    right.hist(np.ptp(bounds[rows], axis=1), **how)
right.set(xlabel="width of the interval in hours", title="2,000 new orders")
right.legend()
figure.savefig(Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "tables.png", dpi=120)
