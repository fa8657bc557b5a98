"""How honest and how sharp prediction intervals are, and scorers for model selection.

The functions share these conventions, for n rows and m outputs:

- ``y_true`` is (n,) or (n, m); ``interval`` has one more axis of length 2: lower, upper. Bounds may
  be infinite, targets may not. ``mean`` and ``std`` have the shape of ``y_true``.
- ``sample_weight`` is (n,); rows of weight zero are left out, as if they had not been given.
- A metric is computed for each output, then averaged over the outputs with equal weights.
- A level is a number strictly between 0 and 1: ``confidence_level=0.9`` means 90 %.
"""

from elmband.metrics.coverage import (
    CalibrationCurve,
    GroupCoverage,
    calibration_curve,
    coverage_by_group,
    coverage_by_width,
    miscalibration_area,
)
from elmband.metrics.evaluation import Evaluation, LevelEvaluation
from elmband.metrics.scorer import interval_scorer
from elmband.metrics.scores import (
    crps_gaussian,
    cwc,
    interval_score,
    nll_gaussian,
    nmpiw,
    picp,
    pinball,
)
from elmband.metrics.streaming import IntervalSums, interval_sums

__all__ = [
    "CalibrationCurve",
    "Evaluation",
    "GroupCoverage",
    "IntervalSums",
    "LevelEvaluation",
    "calibration_curve",
    "coverage_by_group",
    "coverage_by_width",
    "crps_gaussian",
    "cwc",
    "interval_score",
    "interval_scorer",
    "interval_sums",
    "miscalibration_area",
    "nll_gaussian",
    "nmpiw",
    "picp",
    "pinball",
]
