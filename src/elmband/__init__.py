"""Every prediction with its own honest interval, at the price of least squares."""

# Before all that takes its time.
import elmband.ground.loading  # noqa: F401  # isort: split
from elmband.estimators import (
    ELMClassifier,
    ELMIntervalRegressor,
    ELMRegressor,
    ELMSelectiveClassifier,
    FeatureRelevance,
    IntervalTriage,
    RelevantDirections,
    Triage,
    VarianceParts,
    load,
    merge,
)
from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

__all__ = [
    "ELMClassifier",
    "ELMIntervalRegressor",
    "ELMRegressor",
    "ELMSelectiveClassifier",
    "FeatureRelevance",
    "IntervalTriage",
    "RelevantDirections",
    "TableEncoder",
    "Triage",
    "VarianceParts",
    "__version__",
    "load",
    "merge",
    "scan",
]

__version__ = "0.1.0.dev1"
