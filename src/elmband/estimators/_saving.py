"""Models to files without pickle, and as plain state for tools that ask for it."""

from copyreg import __newobj__  # type: ignore[attr-defined]
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any, SupportsIndex

from sklearn.utils.validation import check_is_fitted

from elmband.estimators._fitted import KINDS, attributes, parameters
from elmband.estimators._loaded_check import TriedModel
from elmband.ground.files import check_writable
from elmband.models import model_file, onnx_export
from elmband.sums.packing import UnknownKindError, fits, is_plain

# What belongs to the session at hand: notes of scikit-learn, and the device.
_FLEETING = ("_metadata_request", "_device")
_TEXT, _ARRAYS = "elmband", "arrays"


class SavedModel(TriedModel):
    """A model that can be saved."""

    def save(self, path: str | Path) -> Path:
        """Write the model to a .safetensors file, to be read by `elmband.load`.

        The file holds numbers and text only: nothing in it is run when it is loaded. Models with
        functions of your own (neurons, target transforms) cannot be saved. Models trained on other
        array libraries are loaded on NumPy. A generator `random_state` is not kept.
        """
        check_is_fitted(self)
        check_writable(Path(path))
        return model_file.write(path, self._packed())

    def to_onnx(
        self, path: str | Path | None = None, *, opset: int | None = None, encoder: bool = True
    ) -> Any:
        """Return the model in the ONNX format, or write it to a file and return its path.

        See `elmband.models.onnx_export.to_onnx` for inputs and outputs. An encoder of tables is
        part of it, with an input for each column; with ``encoder=False`` its features are the
        input.
        """
        return onnx_export.to_onnx(self, path, opset=opset, encoder=encoder)

    def _packed(self) -> model_file.Packed:
        """Take the model apart, and see that it can be put together again."""
        try:
            packed = model_file.pack(self._stored(), KINDS)
        except UnknownKindError as error:
            raise ValueError(
                f"The model cannot be saved: {str(error).rstrip('.')}; choose neurons and "
                "transforms by name, or pickle the model."
            ) from error
        try:
            type(self)()._restore(model_file.unpack(packed, KINDS))  # noqa: SLF001
        except Exception as error:
            raise ValueError(
                f"The model cannot be saved: it could not be loaded again ({error})."
            ) from error
        return packed

    def _stored(self) -> model_file.Stored:
        """Return what is to be kept of the model."""
        kind = type(self)
        if kind.__module__.partition(".")[0] != "elmband":
            raise ValueError(
                f"The model cannot be saved: {kind.__name__} is a class of your own, which load "
                "would not know; pickle it."
            )
        state = {name: value for name, value in vars(self).items() if name not in _FLEETING}
        if not isinstance(state["random_state"], Integral | None):
            state["random_state"] = None
        # On another machine there may be no such device.
        state["device"] = None
        for name in sorted(state.keys() - vars(kind()).keys() - attributes(kind).keys()):
            raise ValueError(
                f"The model cannot be saved: its attribute {name} is not one of an "
                f"{kind.__name__}; delete it."
            )
        return model_file.Stored(kind.__name__, state, version("elmband"))

    def _checked(self, stored: model_file.Stored) -> dict[str, Any]:
        """Return all attributes of a model in this state; refuse what cannot be its state."""
        initial, types = vars(type(self)()), attributes(type(self))
        hints = parameters(type(self))
        for name, value in stored.state.items():
            # Nothing else may be set: it could hide a method, or mislead a notebook.
            fitted = name in types and name not in _FLEETING and fits(value, types[name])
            if not (is_plain(value, hints[name]) if name in initial else fitted):
                raise ValueError(f"{name} is not of the type that it should be")
        if stored.model != type(self).__name__:
            raise ValueError(f"{stored.model} is another kind of model")
        # Parameters that are younger than the state have their defaults.
        return initial | stored.state

    def _restore(self, stored: model_file.Stored) -> None:
        """Take the state of another model; one that cannot be is an exception of any kind."""
        self.__dict__.update(self._checked(stored))
        if hasattr(self, "_targets"):
            self._try_out()

    # Pickle and copy take the model as it is, with functions and arrays of any library. Tools like
    # skops ask for its state, and have their users vouch for every type in it: it is plain.

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        kind = type(self)
        if (kind.__getstate__, kind.__reduce__) != (SavedModel.__getstate__, object.__reduce__):
            return super().__reduce_ex__(protocol)
        return __newobj__, (type(self),), dict(vars(self))

    def __getstate__(self) -> dict[str, Any]:
        try:
            packed = self._packed()
        except ValueError:
            return dict(vars(self))
        return {_TEXT: packed.text, _ARRAYS: packed.arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state.keys() != {_TEXT, _ARRAYS}:
            super().__setstate__(state)
            return
        try:
            packed = model_file.Packed(state[_TEXT], state[_ARRAYS])
            self._restore(model_file.unpack(packed, KINDS))
        except Exception as error:
            raise ValueError(
                f"The state of this {type(self).__name__} is damaged or was changed, or it is of "
                "a later version."
            ) from error
