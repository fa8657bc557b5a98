"""Estimators with the interface of scikit-learn."""

from elmband.estimators._growing import merge
from elmband.estimators._interval_triage import IntervalTriage
from elmband.estimators._relevant import FeatureRelevance, RelevantDirections
from elmband.estimators._triage import Triage
from elmband.estimators._variance import VarianceParts
from elmband.estimators.classifier import ELMClassifier
from elmband.estimators.interval import ELMIntervalRegressor
from elmband.estimators.loading import load
from elmband.estimators.point import ELMRegressor
from elmband.estimators.selective import ELMSelectiveClassifier

__all__ = [
    "ELMClassifier",
    "ELMIntervalRegressor",
    "ELMRegressor",
    "ELMSelectiveClassifier",
    "FeatureRelevance",
    "IntervalTriage",
    "RelevantDirections",
    "Triage",
    "VarianceParts",
    "load",
    "merge",
]
