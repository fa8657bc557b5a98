"""A feature to draw along, from arrays, data frames or scans."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from elmband.ground.arrays import to_numpy
from elmband.sources.stream import Scan


class Feature(NamedTuple):
    """Values of a feature, (n,), and its name."""

    values: NDArray[np.float64]
    name: str


def chosen_feature(X: Any, feature: str | int | None) -> Feature | None:
    """Return a feature by name or place; None asks for the only one, if there is only one."""
    names, count = _names(X), X.n_features if isinstance(X, Scan) else n_columns(X)
    if feature is None:
        if count > 1:
            return None
        feature = 0
    place = _place(feature, names, count)
    name = f"feature {place}" if names is None else names[place]
    if names is None and count == 1:
        name = "x"
    try:
        return Feature(_column(X, place), name)
    except (TypeError, ValueError) as error:
        raise ValueError(f"feature {name!r} is no column of numbers: draw along another") from error


def _place(feature: str | int, names: list[str] | None, count: int) -> int:
    if isinstance(feature, str):
        if names is None or feature not in names:
            raise ValueError(f"X has no feature {feature!r}: name one that it has, or its place")
        return names.index(feature)
    if not -count <= feature < count:
        raise ValueError(f"feature={feature} is none of the {count} features of X")
    return feature % count


def _names(X: Any) -> list[str] | None:
    names = X.feature_names if isinstance(X, Scan) else getattr(X, "columns", None)
    return None if names is None else [str(name) for name in names]


def n_columns(X: Any) -> int:
    """Return the number of columns of rows, 1 of rows that are numbers."""
    shape = np.shape(X)
    return int(shape[1]) if len(shape) > 1 else 1


def _column(X: Any, place: int) -> NDArray[np.float64]:
    if isinstance(X, Scan):
        values = np.concatenate([chunk.X[:, place] for chunk in X])
    elif hasattr(X, "columns"):
        values = np.asarray(_safe_indexing(X, place, axis=1))
    else:
        values = to_numpy(X)
        values = values[:, place] if values.ndim > 1 else values
    return np.asarray(values, dtype=np.float64)
