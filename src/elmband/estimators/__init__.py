"""Estimators with the interface of scikit-learn."""

# First: SciPy, which it imports, takes half as long again from deep within other imports.
import sklearn.base  # noqa: F401

# isort: split
from elmband.estimators._more_rows import merge
from elmband.estimators._relevant import FeatureRelevance, RelevantDirections
from elmband.estimators.classifier import ELMClassifier
from elmband.estimators.interval import ELMIntervalRegressor
from elmband.estimators.loading import load
from elmband.estimators.point import ELMRegressor
from elmband.estimators.selective import ELMSelectiveClassifier
from elmband.models.decisions import Triage
from elmband.models.intervals import IntervalTriage, VarianceParts

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
