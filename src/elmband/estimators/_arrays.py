"""Rows in memory that have targets: inputs, targets, weights and groups, checked."""

import datetime as dt
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from elmband.estimators.tables import EncodedRows, note_table
from elmband.ground.arrays import Array, namespace, place, to_numpy
from elmband.sources.device import check_finite, is_gpu_array

_LARGEST_WEIGHT = 1e250


class TrainingRows(NamedTuple):
    """X (n, d), Y (n, m) in float64 and weights (n,) or None, all in the library of X."""

    X: Array
    Y: Array
    s: Array | None
    single_output: bool
    n_given: int
    kept: np.ndarray[Any, Any] | None = None


def training_rows(
    estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any, *, finite: bool = True
) -> TrainingRows:
    """Check training data. Rows of weight zero are left out: they count zero times.

    Whether X is `finite` can be checked later, where that is faster.
    """
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None."
        )
    if isinstance(X, EncodedRows):
        X = note_table(estimator, X)
    else:
        how = {"ensure_min_samples": 2, "ensure_all_finite": finite}
        X = validate_data(estimator, X, dtype="numeric", **how)
    xp = namespace(X)
    Y = _placed_numbers(y, "y", X)
    if Y.shape[0] != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y has {Y.shape[0]}; they must be as many.")
    single, n = Y.ndim == 1, int(X.shape[0])
    Y = Y[:, None] if single else Y
    if sample_weight is None:
        return TrainingRows(X, Y, None, single, n)
    s = _weights(sample_weight, X)
    if bool(xp.all(s > 0)):
        return TrainingRows(X, Y, s, single, n)
    index = np.flatnonzero(to_numpy(s))
    if len(index) < 2:
        raise ValueError("sample_weight leaves fewer than 2 rows with a weight above zero.")
    kept = place(index, X, xp.int64)
    X, Y, s = (xp.take(a, kept, axis=0) for a in (X, Y, s))
    return TrainingRows(X, Y, s, single, n, index)


def held_out_rows(
    X: Array, y: Any, sample_weight: Any, n_outputs: int
) -> tuple[Array, Array | None]:
    """Check targets of held-out rows X: return Y (n, m) in float64 and weights (n,) or None."""
    if y is None:
        raise ValueError("y is missing: give the targets of these rows; only a scan has its own.")
    Y = _placed_numbers(y, "y", X)
    Y = Y[:, None] if Y.ndim == 1 else Y
    if Y.shape != (X.shape[0], n_outputs):
        raise ValueError(
            f"y must have {X.shape[0]} rows and {n_outputs} outputs, as X and the model have; "
            f"its shape is {tuple(Y.shape)}."
        )
    return Y, None if sample_weight is None else _weights(sample_weight, X)


def with_weight(X: Array, Y: Array, s: Array | None) -> tuple[Array, Array, Array | None]:
    """Leave out rows of weight zero."""
    xp = namespace(X)
    if s is None or bool(xp.all(s > 0)):
        return X, Y, s
    index = np.flatnonzero(to_numpy(s))
    if not len(index):
        raise ValueError("sample_weight leaves no row with a weight above zero.")
    kept = place(index, X, xp.int64)
    return tuple(xp.take(a, kept, axis=0) for a in (X, Y, s))


def check_labels(
    groups: Any, n_rows: int, kept: np.ndarray[Any, Any] | None = None
) -> np.ndarray[Any, Any]:
    """Return labels of groups, one for every row, of the rows that are `kept`."""
    labels = labels_of_rows(groups, n_rows)
    labels = labels if kept is None else labels[kept]
    if len(np.unique(labels)) < 2:
        raise ValueError("groups names a single group; leaving groups out needs two at least.")
    return labels


def labels_of_rows(groups: Any, n_rows: int) -> np.ndarray[Any, Any]:
    """Return one label for each row; none may be missing."""
    labels = np.asarray(to_numpy(groups) if is_array_api_obj(groups) else groups)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"groups must have one label for each of the {n_rows} rows of X; "
            f"its shape is {labels.shape}."
        )
    sentence = "groups holds missing labels or mixes types; convert them."
    # Of numbers and times, only a missing one is not itself.
    if labels.dtype.kind in "fmM" and (labels != labels).any():  # noqa: PLR0124
        raise ValueError(sentence)
    try:
        np.unique(labels)
    except TypeError as error:
        raise ValueError(sentence) from error
    return labels


def _placed_numbers(y: Any, name: str, X: Array) -> Array:
    """Return numbers in float64 in the library of X, checked where they are."""
    xp = namespace(X)
    if is_gpu_array(y) and namespace(y) is xp and y.ndim in (1, 2):
        check_finite(y, name)
        numbers = place(y, X, xp.float64)
    else:
        numbers = place(_numbers(y, name), X, xp.float64)
    if numbers.dtype != xp.float64:
        raise ValueError(
            "Sums need float64, which the array library is set to do without; for JAX, set "
            "jax.config.update('jax_enable_x64', True) first."
        )
    return numbers


def _numbers(y: Any, name: str) -> np.ndarray[Any, Any]:
    if isinstance(y, Real):
        raise ValueError(f"{name} must have one value for every row of X; got the number {y!r}.")
    values = to_numpy(y) if is_array_api_obj(y) else y
    if _are_times(np.asarray(values)):
        raise ValueError(
            f"{name} holds dates or durations, which are no numbers until a unit is chosen: "
            "convert them, as to days."
        )
    return np.asarray(check_array(values, ensure_2d=False, dtype=np.float64, input_name=name))


def _are_times(values: np.ndarray[Any, Any]) -> bool:
    """Tell whether dates or durations are among values; NumPy would make numbers of them."""
    kinds = (dt.date, dt.time, dt.timedelta, np.datetime64, np.timedelta64)
    objects = values.flat if values.dtype.kind == "O" else ()
    return values.dtype.kind in "mM" or any(isinstance(value, kinds) for value in objects)


def _weights(sample_weight: Any, X: Array) -> Array:
    n = X.shape[0]
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight, dtype=np.float64)
    weights = _numbers(sample_weight, "sample_weight")
    if weights.shape != (n,):
        raise ValueError(
            f"sample_weight must have one number for each of the {n} rows of X; "
            f"its shape is {weights.shape}."
        )
    if weights.min() < 0:
        raise ValueError(f"sample_weight must not be negative; its least is {weights.min():g}.")
    largest = float(weights.max())
    if largest > _LARGEST_WEIGHT or 0 < largest < 1 / _LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight goes up to {largest:g}, whose sums and products are no numbers; only "
            "ratios matter, so divide all weights by a common factor."
        )
    return place(weights, X, namespace(X).float64)
