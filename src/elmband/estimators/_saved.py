"""Models as what files hold: plain state without pickle, checked on the way in and out."""

from collections.abc import Mapping
from importlib.metadata import version
from inspect import get_annotations
from numbers import Integral
from typing import Any, ClassVar, get_args, get_origin, get_type_hints

from sklearn.base import is_classifier

from elmband.estimators._progress import COLUMNS
from elmband.models.fitted import Inputs
from elmband.models.loaded_check import check_works
from elmband.models.model_file import KINDS, NAMES, fitted_of, state_of
from elmband.sums.packed_file import Packed, Stored, pack, unpack
from elmband.sums.packing import UnknownKindError, is_plain

# What belongs to the session at hand: notes of scikit-learn.
_FLEETING = {"_metadata_request"}
_TEXT, _ARRAYS = "elmband", "arrays"


def stored(model: Any) -> Stored:
    """Return what is to be kept of a model: its parameters, and what it has fitted."""
    kind = type(model)
    if kind.__module__.partition(".")[0] != "elmband":
        raise ValueError(
            f"The model cannot be saved: {kind.__name__} is a class of your own, which load "
            "would not know; pickle it."
        )
    state = {name: value for name, value in vars(model).items() if name in vars(kind())}
    # What scikit-learn has noted of columns lies in the fitted value as well.
    known = _FLEETING | {*COLUMNS, "fitted_"}
    for name in sorted(vars(model).keys() - state.keys() - known):
        raise ValueError(
            f"The model cannot be saved: its attribute {name} is not one of an "
            f"{kind.__name__}; delete it."
        )
    if not isinstance(state["random_state"], Integral | None):
        state["random_state"] = None
    # On another machine there may be no such device.
    state["device"] = None
    if "fitted_" in vars(model):
        state |= state_of(model.fitted_)
    return Stored(kind.__name__, state, version("elmband"))


def packed(model: Any) -> Packed:
    """Take a model apart, and see that it can be put together again."""
    try:
        found = pack(stored(model), KINDS)
    except UnknownKindError as error:
        raise ValueError(
            f"The model cannot be saved: {str(error).rstrip('.')}; choose neurons and "
            "transforms by name, or pickle the model."
        ) from error
    try:
        restore(type(model)(), unpack(found, KINDS))
    except Exception as error:
        raise ValueError(
            f"The model cannot be saved: it could not be loaded again ({error})."
        ) from error
    return found


def restore(model: Any, kept: Stored) -> None:
    """Let a model take the state of another; one that cannot be is an exception of any kind."""
    if kept.model != type(model).__name__:
        raise ValueError(f"{kept.model} is another kind of model")
    hints = _parameters(type(model))
    # Parameters that are younger than the state have their defaults.
    parameters = {name: value for name, value in kept.state.items() if name in hints}
    for name, value in parameters.items():
        if not is_plain(value, hints[name]):
            raise ValueError(f"{name} is not of the type that it should be")
    state = {name: value for name, value in kept.state.items() if name not in hints}
    # Nothing else may be set: it could hide a method, or mislead a notebook.
    if not state.keys() <= NAMES:
        raise ValueError("unknown attributes")
    vars(model).update((name, parameters[name]) for name in vars(model).keys() & parameters.keys())
    if state:
        fitted = _fitted(model, state, parameters)
        note_columns(model, fitted.inputs)
        model.fitted_ = fitted


def note_columns(model: Any, inputs: Inputs) -> None:
    """Let scikit-learn know what columns a fitted model was given, in the order of a fit."""
    vars(model).pop("feature_names_in_", None)
    if inputs.given_names is not None:
        model.feature_names_in_ = inputs.given_names
    model.n_features_in_ = inputs.given


def _fitted(model: Any, state: Mapping[str, Any], parameters: Mapping[str, Any]) -> Any:
    """Return the fitted value of a state, if it is one of such a model and works."""
    symmetric = bool(parameters.get("symmetric", True))
    fitted = fitted_of(state, symmetric=symmetric, precision=model.precision)
    check_works(fitted)
    noisy = "noise" in model.get_params(deep=False)
    certain = hasattr(model, "rank_by")
    if (
        is_classifier(model) != (fitted.classes is not None)
        or noisy != (fitted.noise is not None or fitted.stale)
        or (certain and fitted.deciding is None and not fitted.stale)
    ):
        raise ValueError("parts do not fit the kind of model")
    return fitted


def plain_state(model: Any) -> dict[str, Any]:
    """Return a model as text and arrays, for tools that have their users vouch for types."""
    found = packed(model)
    return {_TEXT: found.text, _ARRAYS: found.arrays}


def is_plain_state(state: Mapping[str, Any]) -> bool:
    """Tell whether this is what `plain_state` returned."""
    return state.keys() == {_TEXT, _ARRAYS}


def take_plain_state(model: Any, state: Mapping[str, Any]) -> None:
    """Let a model take such a state."""
    try:
        kept = Packed(state[_TEXT], state[_ARRAYS])
        vars(model).update(vars(type(model)()))
        restore(model, unpack(kept, KINDS))
    except Exception as error:
        raise ValueError(
            f"The state of this {type(model).__name__} is damaged or was changed, or it is of "
            "a later version."
        ) from error


def _parameters(kind: Any) -> dict[str, Any]:
    """Return the types of the parameters of a model, and of those that it does not offer."""
    own = [cls for cls in kind.__mro__ if cls.__module__.partition(".")[0] == "elmband"]
    names = {name for cls in own for name in get_annotations(cls)} - {"fitted_", "_"}
    hints = {name: hint for name, hint in get_type_hints(kind).items() if name in names}
    return {
        name: get_args(hint)[0] if get_origin(hint) is ClassVar else hint
        for name, hint in hints.items()
    }
