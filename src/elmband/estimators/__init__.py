"""Estimators with the interface of scikit-learn."""

from elmband.estimators._variance import VarianceParts
from elmband.estimators.interval import ELMIntervalRegressor
from elmband.estimators.point import ELMRegressor, merge

__all__ = ["ELMIntervalRegressor", "ELMRegressor", "VarianceParts", "merge"]
