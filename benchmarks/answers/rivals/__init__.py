"""The methods: each fits, answers with a mean and an interval at 90 %, and is saved to a file.

A method is a class `Model` in a file of its own. ``Model(threads)`` knows how many threads its
library may use, None for as many as it takes; ``fit(X, y)`` learns, ``answer(X)`` returns the mean
(n,) and the bounds (n, 2), and ``save(folder)`` writes the one file that a service would load.
"""

from dataclasses import dataclass, field
from importlib import import_module, metadata
from typing import Any, Protocol

from benchmarks.answers.data import Floats

LEVEL = 0.9


class Answering(Protocol):
    """What all methods are."""

    def fit(self, X: Floats, y: Floats) -> None:
        """Learn from rows."""

    def answer(self, X: Floats) -> tuple[Floats, Floats]:
        """Return the mean and the bounds of new rows."""

    def save(self, folder: Any) -> int:
        """Write the model, and return its bytes."""


@dataclass(frozen=True)
class Method:
    """A method by name: ``rivals.<module>.Model`` with options, and the package it measures."""

    name: str
    module: str
    package: str
    options: dict[str, Any] = field(default_factory=dict)

    def model(self, threads: int | None) -> Any:
        """Import the adaptor, and with it the package."""
        return import_module(f"{__name__}.{self.module}").Model(threads, **self.options)

    def version(self) -> str:
        """Return the version of the package."""
        return f"{self.package} {metadata.version(self.package)}"

    def absent(self) -> str | None:
        """Say why a method cannot be measured, None where it can."""
        module = import_module(f"{__name__}.{self.module}")
        found: str | None = getattr(module, "absent", lambda **_: None)(**self.options)
        return found


_METHODS = (
    Method("elmband", "elm", "elmband"),
    Method("elmband-exact", "elm", "elmband", {"mode": "exact"}),
    Method("elmband-published", "elm", "elmband", {"mode": "published"}),
    Method("elmband-onnx", "elm_onnx", "onnxruntime"),
    Method("lightgbm", "lightgbm", "lightgbm"),
    Method("catboost", "catboost", "catboost"),
    Method("quantile-forest", "forest", "quantile-forest"),
)
METHODS = {method.name: method for method in _METHODS}
