"""Models to files, without pickle."""

from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from elmband import model_file


class SavedModel(BaseEstimator):
    """A model that can be saved."""

    def save(self, path: str | Path) -> Path:
        """Write the model to a .safetensors file, to be read by `elmband.load`.

        The file holds numbers and text only: nothing in it is run when it is loaded. Models with
        functions of your own (neurons, target transforms) cannot be saved. Models trained on other
        array libraries are loaded on NumPy.
        """
        check_is_fitted(self)
        # On another machine there may be no such device.
        state = {**vars(self), "device": None, "_device": None}
        if isinstance(state.get("random_state"), np.random.RandomState | np.random.Generator):
            state["random_state"] = None
        stored = model_file.Stored(type(self).__name__, state, version("elmband"))
        try:
            return model_file.write(path, stored)
        except model_file.UnknownKindError as error:
            raise ValueError(
                f"The model cannot be saved: {error} Functions of your own are not stored in files."
            ) from error

    @classmethod
    def _restored(cls, state: dict[str, Any]) -> Self:
        """Return a model in the state of another; a state that cannot be is a ValueError."""
        model = cls()
        parameters = set(model.get_params(deep=False))
        methods = {name for name in dir(cls) if callable(getattr(cls, name, None))}
        if not parameters <= set(state) or methods & set(state) - parameters:
            raise ValueError("not the state of such a model")
        for name, value in state.items():
            setattr(model, name, value)
        return model
