"""Estimators with the interface of scikit-learn."""

from elmband.estimators.interval import ELMIntervalRegressor, VarianceParts
from elmband.estimators.point import ELMRegressor

__all__ = ["ELMIntervalRegressor", "ELMRegressor", "VarianceParts"]
