"""Every prediction with its own honest interval, at the price of least squares."""

# Before all that takes its time.
import elmband.ground.loading  # noqa: F401

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from elmband import datasets as datasets
    from elmband import display as display
    from elmband import metrics as metrics
    from elmband import pixels as pixels
    from elmband import report as report
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

_FOLDERS = ("datasets", "display", "metrics", "pixels", "report")
# Not for everyone, but there as after any import of a package.
_INNER = ("engines", "estimators", "layers", "models", "sources", "stacks", "sums", "uncertainty")
_ELSEWHERE = {"TableEncoder": "sources.encode", "scan": "sources.stream"}


# Type checkers would take any name for one of ours.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        """Import a name when it is asked for: scikit-learn and SciPy take a second to be loaded."""
        if name in _FOLDERS or name in _INNER:
            return import_module(f"elmband.{name}")
        if name not in __all__:
            raise AttributeError(f"module 'elmband' has no attribute {name!r}", name=name)
        found = getattr(import_module(f"elmband.{_ELSEWHERE.get(name, 'estimators')}"), name)
        # From now on it is found without asking.
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return [*__all__, *_FOLDERS]
