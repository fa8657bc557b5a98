"""Thresholds of a classifier that abstains: estimated, or promised with finite-sample validity.

A row is answered where its score reaches the threshold. The risk of doing so is a ratio whose
denominator is part of its definition (`risk.py`). Training rows left out in closed form give an
estimate of the threshold (`estimate.py`); rows held out give a promise (`sequence.py`), from
tests of single thresholds (`bounds.py`) on a grid that was fixed before (`grid.py`), beginning
where the strongest evidence is to be expected (`held_out.py`).
"""

from elmband.uncertainty.promise.estimate import coverage_threshold, estimate
from elmband.uncertainty.promise.grid import Grid
from elmband.uncertainty.promise.risk import Risk
from elmband.uncertainty.promise.sequence import promise
from elmband.uncertainty.promise.threshold import Meaning, Threshold

__all__ = [
    "Grid",
    "Meaning",
    "Risk",
    "Threshold",
    "coverage_threshold",
    "estimate",
    "promise",
]
