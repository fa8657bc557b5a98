"""What a user hands over, checked: a model of a kind that can be reported on, and its rows."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.estimators import ELMClassifier, ELMIntervalRegressor
from elmband.estimators._arrays import held_out_rows
from elmband.estimators._ask import new_rows
from elmband.estimators._class_targets import encoder_of, known_labels, labels_of_codes
from elmband.estimators._open_rows import count_targets
from elmband.estimators._scans import check_targets
from elmband.ground.arrays import Array, to_numpy
from elmband.report.axes import axes_of
from elmband.report.groups import Labels, find_groups
from elmband.report.rows import Block, LabelledRows
from elmband.sources.device import check_finite, moved
from elmband.sources.encode import EncoderState
from elmband.sources.stream import Scan
from elmband.sums.moments import Chunk
from elmband.sums.row_prints import RowPrints, SeenRows
from elmband.uncertainty.transform import TargetError

if TYPE_CHECKING:
    from elmband.models.target_units import TargetUnits


def check_model(model: Any) -> None:
    """Refuse what is no fitted model of one target."""
    if not isinstance(model, ELMIntervalRegressor | ELMClassifier):
        raise ValueError(
            "A report needs a model that knows its uncertainty: ELMIntervalRegressor, "
            f"ELMClassifier or ELMSelectiveClassifier; got {type(model).__name__}."
        )
    check_is_fitted(model)
    if count_targets(model.fitted_) > 1:
        raise ValueError(
            "A report is on one target, but the model predicts several: train a model for each."
        )


def labelled_rows(model: Any, data: Any, by: Sequence[Any]) -> LabelledRows:
    """Return the rows of a scan or of a pair (X, y), with what they are split by."""
    if isinstance(data, Scan):
        return _of_scan(model, data, by)
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise ValueError(
            f"data is of type {type(data).__name__}; give scan(..., target=) or a pair (X, y)."
        )
    names, target = _column_names(data[0]), getattr(data[1], "name", None)
    X = new_rows(model, data[0], "write_report")
    y = _targets(model, X, data[1])
    known = _names(model, names, int(X.shape[1]))
    axes = axes_of(known, encoder_state(model))
    groups = tuple(find_groups(one, known, axes, len(y), data[0]) for one in by)
    return LabelledRows((X, y), _same, axes, _called(target), groups)


def _of_scan(model: Any, data: Scan, by: Sequence[Any]) -> LabelledRows:
    data = new_rows(model, data, "write_report")
    check_targets(model, data, 1)
    if data.has_weights:
        raise ValueError(
            "Rows of a report count alike, and have a number each: leave weight= out of the scan."
        )
    names = _names(model, data.feature_names, data.n_features)
    target = None if data.target_names is None else data.target_names[0]
    axes = axes_of(names, encoder_state(model))
    for one in by:
        if isinstance(one, str) and one in (data.target_names or ()):
            raise ValueError(
                f"{one!r} is the target: what is to be predicted cannot tell beforehand where "
                "predictions hold; name another column to split rows by."
            )
    groups = tuple(find_groups(one, names, axes, None, data) for one in by)
    decode = (
        partial(_places, model, encoder_of(data)) if isinstance(model, ELMClassifier) else _same
    )
    return LabelledRows(data, decode, axes, _called(target), groups)


def placed(model: Any, X: Array) -> Array:
    """Return a block of rows where the model works on them."""
    device = model.fitted_.training.device
    if device is None or not isinstance(X, np.ndarray):
        return X
    there = moved(X, device)
    check_finite(there)
    return there


def _places(model: Any, state: EncoderState | None, y: Labels) -> Labels:
    """Return the places of classes for targets of a scan."""
    return np.asarray(model.fitted_.classes.positions(labels_of_codes(y, state)))


def encoder_state(model: Any) -> EncoderState | None:
    """Return what made numbers of the tables that the model was trained on."""
    state: EncoderState | None = model.fitted_.inputs.encoder
    return state


def _targets(model: Any, X: Any, y: Any) -> Labels:
    """Return targets as numbers: those of a regressor, or the places of classes."""
    classes = model.fitted_.classes
    if classes is None:
        return to_numpy(held_out_rows(X, y, None, 1)[0])[:, 0]
    labels = known_labels(y, classes)
    if len(labels) != X.shape[0]:
        raise ValueError(f"X has {X.shape[0]} rows, y has {len(labels)}; they must be as many.")
    return np.asarray(classes.positions(labels))


def seen_in_training(model: Any, block: Block) -> SeenRows | None:
    """Count the rows of a block that training saw; None where the model does not know its rows."""
    Y: Any
    classes = model.fitted_.classes
    if classes is not None:
        Y = classes.codes(classes.labels[block.y]).reshape(block.n, -1)
    else:
        Y = _transformed(model, block.y[:, None])
        if Y is None:
            return None
    prints: RowPrints | None = model.fitted_.notes.row_prints
    return None if prints is None else prints.seen(Chunk(block.X, Y, None))


def _transformed(model: Any, Y: Array) -> Array | None:
    """Return targets on the scale that they were learned on; None where some have no place there.

    A transform that the model chose itself takes all: others than those of training at its end.
    """
    units: TargetUnits = model.fitted_.targets
    try:
        with np.errstate(all="ignore"):
            return units.transform.forward(units.in_domain(Y, model.target_transform))
    except TargetError:
        return None


def _same(y: Labels) -> Labels:
    return y


def _column_names(X: Any) -> tuple[str, ...] | None:
    columns = getattr(X, "columns", None)
    return None if columns is None else tuple(str(name) for name in columns)


def _names(model: Any, names: tuple[str, ...] | None, count: int) -> tuple[str, ...]:
    return model.fitted_.inputs.names or names or tuple(f"column {j}" for j in range(count))


def _called(target: Any) -> str:
    return "the target" if target is None or str(target) == "" else str(target)
