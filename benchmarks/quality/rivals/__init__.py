"""The methods compared. Each is a function ``predict(X_train, y_train, X_test, levels, seed)``.

To add one: write the function in a file of its own, return a `Prediction`, name it below.
Methods run at the settings their makers give as defaults or show in their guides; each adaptor
says which. Forests may use every core, since the boosting libraries and the linear algebra do.
"""

from dataclasses import dataclass
from importlib import import_module, metadata
from typing import cast

from benchmarks.quality.rivals.base import Predictor

__all__ = ["METHODS", "Method", "choose_methods"]


@dataclass(frozen=True)
class Method:
    """A method by name: the function ``rivals.<module>.<function>`` and the package it measures."""

    name: str
    module: str
    function: str
    package: str

    def load(self) -> Predictor:
        """Import the adaptor, and with it the package."""
        module = import_module(f"{__name__}.{self.module}")
        return cast("Predictor", getattr(module, self.function))

    def version(self) -> str:
        """Return the version of the package that is installed."""
        return metadata.version(self.package)


_METHODS = (
    Method("elmband", "elm", "default", "elmband"),
    Method("elmband-layer", "elm", "layer", "elmband"),
    Method("elmband-published", "elm", "published", "elmband"),
    Method("mapie-split", "mapie", "split", "mapie"),
    Method("mapie-cv+", "mapie", "cv_plus", "mapie"),
    Method("mapie-cqr", "mapie", "cqr", "mapie"),
    Method("crepes-knn", "crepes", "knn", "crepes"),
    Method("quantile-forest", "forest", "quantiles", "quantile-forest"),
    Method("ngboost", "ngboost", "normal", "ngboost"),
    Method("lightgbm", "lightgbm", "quantiles", "lightgbm"),
    Method("lightgbm-cqr", "lightgbm", "cqr", "lightgbm"),
    Method("catboost", "catboost", "multi_quantile", "catboost"),
    Method("catboost-cqr", "catboost", "cqr", "catboost"),
    Method("xrfm", "xrfm", "point", "xrfm"),
    Method("gp", "gp", "matern", "scikit-learn"),
    Method("statsmodels-ols", "statsmodels", "ols", "statsmodels"),
    Method("statsmodels-quantreg", "statsmodels", "quantreg", "statsmodels"),
)
METHODS = {method.name: method for method in _METHODS}


def choose_methods(names: str) -> list[Method]:
    """Return the methods named in a list with commas; ``rivals`` means all but elmband's own."""
    if not names:
        return list(_METHODS)
    wanted = {name.strip() for name in names.split(",")}
    unknown = wanted - {*METHODS, "rivals"}
    if unknown:
        known = ", ".join([*METHODS, "rivals"])
        raise ValueError(f"no such method: {', '.join(sorted(unknown))}; known are {known}")
    if "rivals" in wanted:
        wanted |= {method.name for method in _METHODS if method.package != "elmband"}
    return [method for method in _METHODS if method.name in wanted]
