"""Draw what models say. Needs matplotlib, from the extra ``elmband[plot]``.

>>> import numpy as np
>>> from elmband.display import IntervalDisplay
>>> x = np.linspace(0, 1, 20)
>>> interval = np.column_stack([x - 0.1, x + 0.1])
>>> display = IntervalDisplay.from_predictions(x, x, mean=x, interval=interval)
>>> display.figure_.savefig("band.png")  # doctest: +SKIP
"""

from elmband.display.calibration import IntervalCalibrationDisplay
from elmband.display.confident_rates import ConfidentRatesDisplay
from elmband.display.figure import new_figure
from elmband.display.interval import IntervalDisplay
from elmband.display.relevance import RelevanceDisplay
from elmband.display.risk_coverage import RiskCoverageDisplay
from elmband.display.variance import VariancePartsDisplay

__all__ = [
    "ConfidentRatesDisplay",
    "IntervalCalibrationDisplay",
    "IntervalDisplay",
    "RelevanceDisplay",
    "RiskCoverageDisplay",
    "VariancePartsDisplay",
    "new_figure",
]
