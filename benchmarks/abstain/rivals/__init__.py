"""The methods compared. Each is a function ``answer(split, seed, watch)``.

To add one: write the function, return `Answers`, name it below.
"""

from dataclasses import dataclass
from importlib import import_module, metadata
from typing import cast

from benchmarks.abstain.rivals.base import Answerer

__all__ = ["METHODS", "Method", "choose_methods"]


@dataclass(frozen=True)
class Method:
    """A method by name: the function ``rivals.<task>``, and what tables and legends call it.

    `seeded` methods run on every seed of a set whose splits are seeds, others on the first.
    """

    name: str
    task: str
    label: str
    package: str = "elmband"
    seeded: bool = False

    def load(self) -> Answerer:
        """Import the adaptor, and with it the package."""
        module, function = self.task.split(".")
        return cast("Answerer", getattr(import_module(f"{__name__}.{module}"), function))

    def version(self) -> str:
        """Return name and version of the package."""
        return f"{self.package} {metadata.version(self.package)}"


_METHODS = (
    Method("elm-margin", "elm.margin", "ELM, one threshold", seeded=True),
    Method("elm-interval", "elm.interval", "ELM, by interval", seeded=True),
    Method("elm-model", "elm.model", "ELM, by deviation of the models", seeded=True),
    Method("elm-probability", "elm.probability", "ELM, by probability", seeded=True),
    Method("elm-log", "elm.log", "one layer, log noise", seeded=True),
    Method("elm-ensemble", "elm.ensemble", "five layers, log noise", seeded=True),
    Method("elmband", "elm.default", "elmband defaults"),
    Method("logistic", "classic.logistic", "logistic, calibrated", "scikit-learn"),
    Method("boosting", "classic.boosting", "boosting", "scikit-learn"),
    Method(
        "boosting-calibrated", "classic.calibrated_boosting", "boosting, calibrated", "scikit-learn"
    ),
)
METHODS = {method.name: method for method in _METHODS}


def choose_methods(names: str) -> list[Method]:
    """Return the methods named in a list with commas, all by default."""
    if not names:
        return list(_METHODS)
    wanted = {name.strip() for name in names.split(",")}
    unknown = wanted - set(METHODS)
    if unknown:
        known = ", ".join(METHODS)
        raise ValueError(f"no such method: {', '.join(sorted(unknown))}; known are {known}")
    return [method for method in _METHODS if method.name in wanted]
