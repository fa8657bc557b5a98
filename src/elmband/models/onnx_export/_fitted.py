"""A fitted model that can be exported, and what its graph needs to know of it."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from elmband.ground.arrays import to_numpy
from elmband.models.fitted import Fitted, Inputs, Layer
from elmband.models.thresholds import Thresholds


def exportable(model: Any, *, encoder: bool = True) -> Fitted:
    """Return what a model has fitted, or say why it cannot be exported.

    Without its `encoder`, features are the input.
    """
    if not hasattr(model, "to_onnx"):
        raise ValueError(
            f"to_onnx takes a model of elmband; got {type(model).__name__}. Export the steps "
            "of a Pipeline one by one."
        )
    check_is_fitted(model)
    fitted: Fitted = model.fitted_
    if fitted.stale:
        raise ValueError(
            "Noise, covariance and calibration are older than the mean, to which rows were "
            "added; call refresh before to_onnx."
        )
    if fitted.classes is not None and fitted.probability is None:
        raise ValueError(
            "Probabilities are older than the model, which rows were added to; call refresh "
            "before to_onnx."
        )
    if encoder or fitted.inputs.encoder is None:
        return fitted
    names = np.array(fitted.inputs.names, dtype=object)
    return replace(fitted, inputs=Inputs(fitted.inputs.width, names))


def dtype_of(fitted: Fitted) -> np.dtype[Any]:
    """Return the dtype of inputs, products and outputs."""
    mean = fitted.mean
    features = mean.features if isinstance(mean, Layer) else mean.members[0].features
    dtype: np.dtype[Any] = to_numpy(features.inputs.mean).dtype
    return dtype


def thresholds_of(fitted: Fitted) -> Thresholds | None:
    """Return which rows are answered, None where nothing was asked for."""
    return None if fitted.deciding is None else fitted.deciding.thresholds


def least_confidence(thresholds: Thresholds) -> list[float]:
    """Return the least confidence of each class that is answered."""
    return [-np.inf if t is None else float(t.value) for t in thresholds.by_class]
