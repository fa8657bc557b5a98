"""A fitted value as plain state for files and back: names, and of which types values are.

The names are those that files have had since the first version.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.member import Member
from elmband.models.decisions import Deciding, Usual
from elmband.models.fitted import Fitted, Inputs, Layer, Notes, Second, Training
from elmband.models.grown import Grown
from elmband.models.model_file import Kinds
from elmband.models.roles import Roles
from elmband.models.target_units import TargetUnits
from elmband.models.thresholds import Known, Thresholds
from elmband.sources.encode import ENCODER_KINDS, EncoderState
from elmband.stacks.mean_stack import MeanStack
from elmband.sums.histograms import Histograms, TrainingHistograms
from elmband.sums.packing import fits
from elmband.sums.row_prints import RowPrints
from elmband.sums.scaling import Scaling
from elmband.uncertainty.calibrate import Calibration
from elmband.uncertainty.classes import Classes, Labels
from elmband.uncertainty.confidence import Confidence
from elmband.uncertainty.dependence import Dependence, Dependences
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import Predictive
from elmband.uncertainty.probability import Probability
from elmband.uncertainty.targets import Columns, Support
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
"""Kinds of values that fitted models have besides those of `elmband.models.model_file`."""

_Array = np.ndarray[Any, np.dtype[np.float64]]

TYPES: Mapping[str, Any] = {
    "n_features_in_": int,
    "feature_names_in_": Labels,
    "_encoder_state": EncoderState | None,
    "_dtype": type,
    "_seed": int,
    "_n_groups": int | None,
    "_roles": Roles,
    "_single_output": bool,
    "_targets": Scaling,
    "target_transform_": BoxCox | Identity | Log | Log1p | Logit,
    "_support": Support | None,
    "_range": Columns | None,
    "_values": Columns | None,
    "_smearing": Columns | None,
    "_stack": MeanStack | None,
    "_features": FeatureMap,
    "hidden_": HiddenLayer,
    "coef_": _Array,
    "alpha_": float | _Array,
    "_noise": SquaredNoise | None,
    "_predictive": Predictive | None,
    "noise_hidden_": HiddenLayer,
    "noise_alpha_": float | _Array,
    "mode_error_": float,
    "_new_levels": NewLevels | None,
    "calibration_": Calibration,
    "symmetric_": bool,
    "reweighted_": bool,
    "_stale": bool,
    "probability_": tuple[Probability, ...] | None,
    "confidence_": Confidence,
    "_left_out": Known,
    "_usual": Usual,
    "_held_out": tuple[Known, float] | None,
    "_thresholds": Thresholds | None,
    "_grown": Grown | None,
    "_dependences": Dependences | None,
    "_histograms": TrainingHistograms | None,
    "_row_prints": RowPrints | None,
    "_classes": Classes,
    # Files of earlier versions repeat parts of the above under these names.
    "members_": tuple[Member, ...],
    "covariance_": _Array,
    "noise_coef_": _Array,
    "noise_covariance_": _Array,
    "_declared": Labels | None,
}
"""The types of what files hold of a fitted model, besides parameters."""


def state_of(fitted: Fitted) -> dict[str, Any]:
    """Return a fitted value as named parts; what it does not have is left out."""
    inputs, training, targets, notes = fitted.inputs, fitted.training, fitted.targets, fitted.notes
    layer, second, deciding = fitted.layer, fitted.second, fitted.deciding
    # Each of these is there, or its name is not.
    parts: dict[str, Any] = {
        "n_features_in_": inputs.given,
        "feature_names_in_": inputs.given_names,
        "_encoder_state": inputs.encoder,
        "_dtype": training.dtype,
        "_seed": training.seed,
        "_n_groups": training.n_groups,
        "_roles": training.roles,
        "_single_output": targets.single_output,
        "_targets": targets.scaling,
        "target_transform_": targets.transform,
        "_support": targets.support,
        "_range": targets.range,
        "_values": targets.values,
        "_smearing": targets.smearing,
        "_stack": fitted.stack,
        "_noise": fitted.squared,
        "_predictive": fitted.predictive,
        "_new_levels": fitted.new_levels,
        "calibration_": fitted.calibration,
        "symmetric_": fitted.symmetric,
        "reweighted_": fitted.reweighted,
        "_stale": fitted.stale,
        "_classes": fitted.classes,
        "probability_": fitted.probability,
        "_grown": fitted.grown,
        "_dependences": notes.dependences,
        "_histograms": notes.histograms,
        "_row_prints": notes.row_prints,
    }
    if layer is not None:
        own = (layer.features, layer.hidden, layer.coef, layer.alpha)
        parts |= dict(zip(("_features", "hidden_", "coef_", "alpha_"), own, strict=True))
    if second is not None:
        read = (second.hidden, second.alpha, second.error)
        parts |= dict(zip(("noise_hidden_", "noise_alpha_", "mode_error_"), read, strict=True))
    if deciding is not None:
        names = ("confidence_", "_left_out", "_usual", "_held_out", "_thresholds")
        parts |= {name: getattr(deciding, name.strip("_")) for name in names}
    return {name: value for name, value in parts.items() if value is not None}


def fitted_of(state: Mapping[str, Any], *, symmetric: bool, precision: Any) -> Fitted:
    """Return the fitted value of named parts; those that cannot be one raise any exception.

    Whether both tails are alike, earlier versions knew from a parameter only.
    """
    for name, value in state.items():
        if not fits(value, TYPES[name]):
            raise ValueError(f"{name} is not of the type that it should be")
    get = state.get
    stack = get("_stack")
    layer = ("_features", "hidden_", "coef_", "alpha_")
    return Fitted(
        inputs=Inputs(state["n_features_in_"], get("feature_names_in_"), get("_encoder_state")),
        training=Training(
            state["_dtype"],
            state["_seed"],
            n_groups=get("_n_groups"),
            roles=get("_roles", Roles()),
        ),
        targets=TargetUnits(
            state["_targets"],
            state["target_transform_"],
            state["_single_output"],
            precision,
            get("_support"),
            get("_range"),
            get("_values"),
            get("_smearing"),
        ),
        mean=Layer(*(state[name] for name in layer)) if stack is None else stack,
        noise=get("_predictive") or get("_noise"),
        second=_second(state),
        new_levels=get("_new_levels"),
        calibration=get("calibration_"),
        symmetric=get("symmetric_", symmetric),
        reweighted=get("reweighted_", False),
        stale=get("_stale", False),
        classes=get("_classes"),
        probability=get("probability_"),
        deciding=_deciding(state),
        grown=get("_grown"),
        notes=Notes(get("_dependences"), get("_histograms"), get("_row_prints")),
    )


def _second(state: Mapping[str, Any]) -> Second | None:
    if state.get("_stack") is not None or "noise_hidden_" not in state:
        return None
    # Once rows were added, numbers of the second stage are gone.
    return Second(state["noise_hidden_"], state.get("noise_alpha_"), state.get("mode_error_", 0.0))


def _deciding(state: Mapping[str, Any]) -> Deciding | None:
    if "confidence_" not in state:
        return None
    return Deciding(
        state["confidence_"],
        state["_left_out"],
        state["_usual"],
        state.get("_held_out"),
        state.get("_thresholds"),
    )
