"""A question to a model that travels to where rows are, and its answers as columns with names."""

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from elmband.estimators._tables import count_inputs
from elmband.estimators._validate import check_levels, level_name
from elmband.ground.arrays import Array

Columns = dict[str, Array]

# What answers do not need: features are in the right order where they are asked for.
_AT_HOME = (
    "feature_names_in_",
    "_grown",
    "_encoder_state",
    "_left_out",
    "_held_out",
    "_dependences",
    "_histograms",
    "_row_prints",
)


@dataclass(frozen=True, eq=False)
class Asked:
    """A public method of a fitted model, and the options that it is called with."""

    model: Any
    method: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, model: Any, method: str, options: Mapping[str, Any]) -> Self:
        """Take a copy of the model without what only a fit needs."""
        light = copy(model)
        for name in _AT_HOME:
            vars(light).pop(name, None)
        # Rows are encoded where they are.
        light.n_features_in_ = count_inputs(model)
        return cls(light, method, options)

    def __call__(self, X: Array) -> Any:
        """Return what the model answers to rows of NumPy."""
        return getattr(self.model, self.method)(X, **self.options)

    def columns(self, X: Array) -> Columns:
        """Return the same as columns (n,), named as in files."""
        return _COLUMNS[self.method](self, self(X))

    def table(self, X: Array) -> Array:
        """Return the same as an array of records."""
        return records(self.columns(X))


def records(columns: Columns) -> Array:
    """Return columns (n, ...) of any types as one array (n,) of records."""
    kinds = [(name, values.dtype, values.shape[1:]) for name, values in columns.items()]
    rows = np.empty(len(next(iter(columns.values()))), dtype=kinds)
    for name, values in columns.items():
        rows[name] = values
    return rows


def _beside(parts: Columns) -> Columns:
    """Return values (n,) as they are, and values (n, m) output by output."""
    if all(values.ndim == 1 for values in parts.values()):
        return parts
    count = next(iter(parts.values())).shape[1]
    return {
        f"{name}_{output}": values[:, output]
        for output in range(count)
        for name, values in parts.items()
    }


def _predicted(asked: Asked, found: Any) -> Columns:
    if hasattr(asked.model, "classes_"):
        return _beside({"label": found})
    if not isinstance(found, tuple):
        return _beside({"mean": found})
    mean, more = found
    if asked.options.get("return_std"):
        return _beside({"mean": mean, "std": more})
    levels = check_levels(asked.options["confidence_level"])
    more = more[..., None] if levels.single else more
    bounds = {
        f"{name}_{level_name(level)}": more[..., side, k]
        for k, level in enumerate(levels.values)
        for side, name in enumerate(("lower", "upper"))
    }
    return _beside({"mean": mean, **bounds})


def _quantiles(asked: Asked, found: Any) -> Columns:
    levels = check_levels(asked.options["quantiles"], "quantiles")
    found = found[..., None] if levels.single else found
    names = [f"quantile_{level_name(q)}" for q in levels.values]
    return _beside({name: found[..., k] for k, name in enumerate(names)})


def _shares(asked: Asked, found: Any) -> Columns:
    labels = asked.model.classes_
    return {f"probability_{label}": share for label, share in zip(labels, found.T, strict=True)}


def _triage(asked: Asked, found: Any) -> Columns:
    del asked
    if not hasattr(found, "interval"):
        return dict(found._asdict())
    sides = {"lower": found.interval[..., 0], "upper": found.interval[..., 1]}
    return {
        **_beside({"mean": found.mean, **sides}),
        "accepted": found.accepted,
        "reason": found.reason,
    }


_COLUMNS: dict[str, Callable[[Asked, Any], Columns]] = {
    "predict": _predicted,
    "predict_quantiles": _quantiles,
    "predict_variance": lambda _, found: _beside(found._asdict()),
    "predict_proba": _shares,
    "decision_function": lambda _, found: _beside({"decision": found}),
    "accept": lambda _, found: {"accepted": found},
    "confidence": lambda _, found: {"confidence": found},
    "triage": _triage,
}
