"""How honest and how sharp prediction intervals are, how well a classifier knows its errors.

Scorers for model selection are here too. Metrics of intervals share these conventions, for n rows
and m outputs:

- ``y_true`` is (n,) or (n, m); ``interval`` has one more axis of length 2: lower, upper. Bounds may
  be infinite, targets may not. ``mean`` and ``std`` have the shape of ``y_true``.
- ``sample_weight`` is (n,); rows of weight zero are left out, as if they had not been given.
- A metric is computed for each output, then averaged over the outputs with equal weights.
- A level is a number strictly between 0 and 1: ``confidence_level=0.9`` means 90 %.

Metrics of a classifier that may abstain share these, for n rows:

- ``y_true`` and ``y_pred`` are (n,), labels of one kind: numbers or text.
- ``confidence`` is (n,), larger for rows that are more certain, on any scale; it may be infinite.
- Rows are answered from the most confident on, rows of equal confidence together or not at all.
- ``sample_weight`` is as above. Arrays may come from any library, and from any device.
"""

from elmband.metrics.confident import (
    ConfidentRates,
    confident_rates,
    coverage_without_false_positives,
    true_positives_at_fpr,
)
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
from elmband.metrics.selective import (
    RiskCoverageCurve,
    SelectiveRow,
    aurc,
    e_aurc,
    risk_coverage_curve,
    selective_summary,
)
from elmband.metrics.streaming import IntervalSums, interval_sums

__all__ = [
    "CalibrationCurve",
    "ConfidentRates",
    "Evaluation",
    "GroupCoverage",
    "IntervalSums",
    "LevelEvaluation",
    "RiskCoverageCurve",
    "SelectiveRow",
    "aurc",
    "calibration_curve",
    "confident_rates",
    "coverage_by_group",
    "coverage_by_width",
    "coverage_without_false_positives",
    "crps_gaussian",
    "cwc",
    "e_aurc",
    "interval_score",
    "interval_scorer",
    "interval_sums",
    "miscalibration_area",
    "nll_gaussian",
    "nmpiw",
    "picp",
    "pinball",
    "risk_coverage_curve",
    "selective_summary",
    "true_positives_at_fpr",
]
