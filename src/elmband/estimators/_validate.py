"""Checks of what users pass in; every refusal is one sentence that says what to do."""

import datetime as dt
import math
import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal, NamedTuple

import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from elmband.estimators._tables import EncodedRows, note_table
from elmband.ground.arrays import PRECISIONS, Array, namespace, place, to_numpy
from elmband.ground.callers import level_of_caller
from elmband.layers.output_layer import AlphaRule
from elmband.sources.device import check_finite, is_gpu_array
from elmband.stacks.search import Rounds
from elmband.sums.scaling import Scaling
from elmband.uncertainty.local_fit import LEAST_ROWS, LocalColumns
from elmband.uncertainty.transform import Transform

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


def check_groups(groups: Any, rows: TrainingRows) -> np.ndarray[Any, Any] | None:
    """Return one label for every training row that has a weight, or None."""
    if groups is None:
        return None
    return check_labels(groups, rows.n_given, rows.kept)


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


def check_rounds(learning_rounds: Any) -> Rounds:
    """Return the parameter `learning_rounds`, "auto" or a whole number from 0 on."""
    whole = isinstance(learning_rounds, Integral) and not isinstance(learning_rounds, bool)
    if whole and learning_rounds >= 0:
        return int(learning_rounds)
    if isinstance(learning_rounds, str) and learning_rounds == "auto":
        return "auto"
    raise ValueError(
        f"learning_rounds must be 'auto' or a whole number from 0 on; got {learning_rounds!r}."
    )


def check_max_neurons(max_neurons: Any) -> int:
    """Return the parameter `max_neurons`, a whole number from 1 on."""
    whole = isinstance(max_neurons, Integral) and not isinstance(max_neurons, bool)
    if whole and max_neurons >= 1:
        return int(max_neurons)
    raise ValueError(f"max_neurons must be a whole number from 1 on; got {max_neurons!r}.")


def check_local_layers(columns: Any, known: Sequence[str]) -> LocalColumns:
    """Return the parameter `local_layers`: "auto", None, or names of known columns."""
    if columns is None or columns is False:
        return None
    if isinstance(columns, str) and columns == "auto":
        return "auto"
    names = columns
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ValueError(
            f"local_layers must be 'auto', None or a list of names of columns; got {columns!r}."
        )
    for name in names:
        if name not in known:
            some = ", ".join(known[:10]) + (", ..." if len(known) > 10 else "")
            raise ValueError(f"local_layers names {name!r}, which is no column; there are {some}.")
    return tuple(names)


def check_locality(*, single: bool, groups: bool, outputs: int) -> None:
    """Refuse local layers that were asked for where there can be none."""
    if single:
        raise ValueError("local_layers needs n_neurons='auto'; layers asked for stay as they are.")
    if groups:
        raise ValueError(
            "local_layers cannot be named beside groups: a level is not left out with its group."
        )
    if outputs > 1:
        raise ValueError(f"local_layers is for one output; y has {outputs}. Fit a model for each.")


def warn_no_local_layers(columns: Sequence[str], n: int) -> None:
    """Say that columns that were asked for have no layers of their own, and why."""
    why = "errors of rows left out do not fall enough by them"
    if n < LEAST_ROWS:
        why = f"they take {LEAST_ROWS:,} different rows, and there are {n:,}"
    warnings.warn(
        f"No level of {', '.join(columns)} has a layer of its own: {why}.",
        UserWarning,
        stacklevel=level_of_caller(),
    )


def check_members(n_estimators: Any) -> int | None:
    """Return the number of layers to stack, or None."""
    whole = isinstance(n_estimators, Integral) and not isinstance(n_estimators, bool)
    if n_estimators is None or (whole and int(n_estimators) >= 1):
        return None if n_estimators is None else int(n_estimators)
    raise ValueError(f"n_estimators must be None or at least 1; got {n_estimators!r}.")


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


def warn_constant(constant: Sequence[bool], targets: Scaling, transform: Transform) -> None:
    """Say that constant targets leave nothing to learn; they are transformed ones."""
    for column in np.flatnonzero(constant):
        where = "y" if len(constant) == 1 else f"output {column} of y"
        value = float(transform.inverse(targets.mean[None, :])[0, int(column)])
        warnings.warn(
            f"{where} is constant ({value:g}): the model can only repeat it, "
            "and an interval learned from it has zero width.",
            UserWarning,
            stacklevel=level_of_caller(),
        )


def check_alpha(alpha: Any, name: str = "alpha") -> AlphaRule:
    """Return the rule for γ: a number of at least 0, "auto", "loo" or "gcv"."""
    if isinstance(alpha, str) and alpha in ("auto", "loo", "gcv"):
        return alpha  # type: ignore[return-value]
    if isinstance(alpha, Real) and not isinstance(alpha, bool) and 0 <= float(alpha) < math.inf:
        return float(alpha)
    raise ValueError(
        f"{name} must be a number of at least 0, 'auto', 'loo' (exact leave-one-out) or 'gcv' "
        f"(generalised cross-validation); got {alpha!r}."
    )


def check_choice(value: Any, choices: Sequence[str], name: str) -> str:
    """Return a word that must be one of `choices`."""
    if isinstance(value, str) and value in choices:
        return value
    known = " or ".join(repr(choice) for choice in choices)
    raise ValueError(f"{name} must be {known}; got {value!r}.")


def check_symmetric(value: Any) -> bool | Literal["auto"]:
    """Check that both tails are alike, are not, or are to be looked at."""
    if isinstance(value, str) and value == "auto":
        return "auto"
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"symmetric must be True, False or 'auto'; got {value!r}.")
    return bool(value)


def check_precision(value: Any) -> Any:
    """Return the precision of the products."""
    return check_choice(value, PRECISIONS, "precision")
