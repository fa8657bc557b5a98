"""What fitted models are made of: the attributes that files hold, and of which types they are."""

from inspect import get_annotations
from typing import Any, get_type_hints

import numpy as np

from elmband.estimators._roles import Roles
from elmband.estimators._thresholds import Known, Thresholds
from elmband.estimators._triage import Usual
from elmband.estimators._updates import Grown
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.member import Member
from elmband.models.model_file import Kinds
from elmband.sources.encode import ENCODER_KINDS
from elmband.stacks.mean_stack import MeanStack
from elmband.sums.histograms import Histograms, TrainingHistograms
from elmband.sums.row_prints import RowPrints
from elmband.sums.scaling import Scaling
from elmband.uncertainty.classes import Labels
from elmband.uncertainty.confidence import Confidence
from elmband.uncertainty.dependence import Dependence, Dependences
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.targets import Support
from elmband.uncertainty.transform import BoxCox, Identity, Log, Log1p, Logit

KINDS: Kinds = {
    **{kind: {} for kind in ENCODER_KINDS},
    Dependence: {"shares": "d!", "directions": "kd!", "direction_shares": "k!", "slope": "!"},
    Dependences: {},
    Grown: {},
    Histograms: {"cuts": "kd<", "weights": "bd!"},
    NewLevels: {"marks": "dc!", "mixed": "c+", "deviation": "cm!"},
    RowPrints: {"prints": "k<"},
    Support: dict.fromkeys(("low", "high", "margin"), "m"),
    Known: dict.fromkeys(Known._fields, "n"),
    Roles: {},
    Thresholds: {},
    TrainingHistograms: {},
    Usual: {},
}
"""Kinds of values that estimators have besides those of `elmband.models.model_file`."""

_Array = np.ndarray[Any, np.dtype[np.float64]]

_ATTRIBUTES: dict[str, Any] = {
    "n_features_in_": int,
    "feature_names_in_": Labels,
    "_single_output": bool,
    "_seed": int,
    "_dtype": type,
    "target_transform_": BoxCox | Identity | Log | Log1p | Logit,
    "_targets": Scaling,
    "_features": FeatureMap,
    "_stack": MeanStack | None,
    "hidden_": HiddenLayer,
    "coef_": _Array,
    "alpha_": float | _Array,
    "members_": tuple[Member, ...],
    "_stale": bool,
    "covariance_": _Array,
    "mode_error_": float,
    "noise_hidden_": HiddenLayer,
    "noise_coef_": _Array,
    "noise_alpha_": float | _Array,
    "noise_covariance_": _Array,
    "confidence_": Confidence,
    "_left_out": Known,
    "_usual": Usual,
}


def attributes(kind: Any) -> dict[str, Any]:
    """Return the types of the attributes of a model besides its parameters.

    They are those listed here, and those that the classes of this package are annotated with.
    Others are no part of a model.
    """
    own = (cls for cls in kind.__mro__ if cls.__module__.partition(".")[0] == "elmband")
    hints = get_type_hints(kind)
    return _ATTRIBUTES | {name: hints[name] for cls in own for name in get_annotations(cls)}


def parameters(kind: Any) -> dict[str, Any]:
    """Return the types of the parameters of a model.

    They include those that it does not offer, and that the classes it is derived from have.
    """
    own = (cls for cls in reversed(kind.__mro__) if cls.__module__.partition(".")[0] == "elmband")
    made = [vars(cls)["__init__"] for cls in own if "__init__" in vars(cls)]
    return {name: hint for one in made for name, hint in get_type_hints(one).items()}
