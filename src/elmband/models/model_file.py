"""Model files: the kinds of values they hold, and a fitted value as named parts and back.

The names are those that files have had since the first version.
"""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np

from elmband.ground.arrays import Precision
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.member import Member
from elmband.layers.neurons import Neurons
from elmband.layers.output_layer import OutputLayer
from elmband.layers.packed_root import PackedRoot
from elmband.layers.select import Selection
from elmband.layers.views import RankScores, SoftClip
from elmband.models.decisions import Deciding, NoveltyLimit
from elmband.models.fitted import Fitted, Inputs, Layer, NoiseStage, Notes, Roles, Training
from elmband.models.grown import Grown
from elmband.models.target_units import TargetUnits
from elmband.models.thresholds import ScoredRows, Thresholds
from elmband.sources.encode import ENCODER_KINDS, EncoderState
from elmband.stacks.kept_rows import KeptRows
from elmband.stacks.levels import BinLevels, MarkLevels
from elmband.stacks.local_layers import LocalLayers, LocalNoise, LocalStage, SharedNeurons
from elmband.stacks.mean_stack import MeanStack
from elmband.sums.histograms import Histograms, TrainingHistograms
from elmband.sums.moments import Chunk, Gram
from elmband.sums.packed_file import Kinds
from elmband.sums.packing import fits
from elmband.sums.row_prints import RowPrints
from elmband.sums.scaling import Scaling
from elmband.uncertainty.calibrate import Calibration, OutputScores, Scores
from elmband.uncertainty.classes import Classes, Labels
from elmband.uncertainty.confidence import Confidence, Judge
from elmband.uncertainty.dependence import Dependence, Dependences
from elmband.uncertainty.new_levels import NewLevels
from elmband.uncertainty.noise.fast import LowRank
from elmband.uncertainty.noise.log import LogNoise
from elmband.uncertainty.noise.output import NoiseModels
from elmband.uncertainty.noise.parts import Support
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import Predictive
from elmband.uncertainty.probability import Probability
from elmband.uncertainty.promise import Threshold
from elmband.uncertainty.promise.threshold import Meaning
from elmband.uncertainty.targets import Columns
from elmband.uncertainty.transform import BoxCox, Identity, Log, Log1p, Logit
from elmband.uncertainty.width_error import WidthError

KINDS: Kinds = {
    **{kind: {} for kind in ENCODER_KINDS},
    BinLevels: {"edges": "e!<"},
    BoxCox: {},
    Calibration: {},
    Chunk: {"X": "nd!", "Y": "nm!", "s": "n!"},
    Classes: {"labels": "k", "weights": "k"},
    Confidence: {},
    Dependence: {"shares": "d!", "directions": "kd!", "direction_shares": "k!", "slope": "!"},
    Dependences: {},
    FeatureMap: {},
    Gram: {"HtH": "ll", "HtY": "lm", "YtY": "m"},
    Grown: {},
    HiddenLayer: {},
    Histograms: {"cuts": "kd<", "weights": "bd!"},
    Identity: {},
    Judge: {"low": "f", "high": "f", "centre": "p", "scale": "p", "coef": "p"},
    KeptRows: {"keys": "n"},
    ScoredRows: dict.fromkeys(ScoredRows._fields, "n"),
    LocalLayers: {},
    LocalNoise: {},
    LocalStage: {"coef": "gk!", "variance": "gk!"},
    Log1p: {},
    Log: {},
    LogNoise: {"centre": "l!", "coef": "l!", "covariance": "ll"},
    Logit: {},
    LowRank: {"factors": "mlk", "rest": "m"},
    MarkLevels: {},
    MeanStack: {"weights": "km!"},
    Meaning: {},
    Member: {"centre": "l!", "intercept": "m!", "coef": "lm!", "alpha": "m"},
    Neurons: {"weights": "dl!", "bias": "l!", "metric": "id!"},
    NewLevels: {"marks": "dc!", "mixed": "c+", "deviation": "cm!"},
    NoiseModels: {},
    OutputLayer: {"coef": "lm!", "alpha": "m"},
    OutputScores: {},
    PackedRoot: {"entries": "mt!"},
    Predictive: {},
    Probability: {"slope": "!", "shift": "!", "least": "!"},
    RankScores: {"knots": "kd!<^", "scores": "kd!<"},
    Roles: {},
    RowPrints: {"prints": "k<"},
    Scaling: {"mean": "d!", "scale": "d+"},
    Scores: {"t": "n<", "cumulated": "n!<"},
    Selection: {"neurons": "k", "counts": "c", "errors": "c", "alpha": "m"},
    SharedNeurons: {"centre": "l!", "basis": "lk!"},
    SoftClip: {"centre": "d!", "width": "d+", "mean": "d!", "spread": "d+"},
    SquaredNoise: {"mean_covariance": "mll", "noise_covariance": "mkk"},
    Support: dict.fromkeys(("low", "high", "margin"), "m"),
    Threshold: {},
    WidthError: {},
    Thresholds: {},
    TrainingHistograms: {},
    NoveltyLimit: {},
}
"""Kinds of values that model files hold, with the shapes of their arrays."""

_Array = np.ndarray[Any, np.dtype[np.float64]]

# The type of every part, and where it lies in a fitted value.
_PARTS: Mapping[str, tuple[Any, str]] = {
    "n_features_in_": (int, "inputs.given"),
    "feature_names_in_": (Labels, "inputs.given_names"),
    "_encoder_state": (EncoderState | None, "inputs.encoder"),
    "_dtype": (type, "training.dtype"),
    "_seed": (int, "training.seed"),
    "_n_groups": (int | None, "training.n_groups"),
    "_roles": (Roles, "training.roles"),
    "_single_output": (bool, "targets.single_output"),
    "_precision": (Precision, "targets.precision"),
    "_targets": (Scaling, "targets.scaling"),
    "target_transform_": (BoxCox | Identity | Log | Log1p | Logit, "targets.transform"),
    "_support": (Support | None, "targets.support"),
    "_range": (Columns | None, "targets.range"),
    "_values": (Columns | None, "targets.values"),
    "_smearing": (Columns | None, "targets.smearing"),
    "_stack": (MeanStack | None, "fitted.stack"),
    "_features": (FeatureMap, "layer.features"),
    "hidden_": (HiddenLayer, "layer.hidden"),
    "coef_": (_Array, "layer.coef"),
    "alpha_": (float | _Array, "layer.alpha"),
    "_noise": (SquaredNoise | None, "fitted.squared"),
    "_predictive": (Predictive | None, "fitted.predictive"),
    "noise_hidden_": (HiddenLayer, "noise_stage.hidden"),
    "noise_alpha_": (float | _Array, "noise_stage.alpha"),
    "mode_error_": (float, "noise_stage.error"),
    "_new_levels": (NewLevels | None, "fitted.new_levels"),
    "calibration_": (Calibration, "fitted.calibration"),
    "symmetric_": (bool, "fitted.symmetric"),
    "reweighted_": (bool, "fitted.reweighted"),
    "_stale": (bool, "fitted.stale"),
    "_classes": (Classes, "fitted.classes"),
    "probability_": (tuple[Probability, ...] | None, "fitted.probability"),
    "confidence_": (Confidence, "deciding.confidence"),
    "_left_out": (ScoredRows, "deciding.left_out"),
    "_usual": (NoveltyLimit, "deciding.novelty"),
    "_held_out": (tuple[ScoredRows, float] | None, "deciding.held_out"),
    "_thresholds": (Thresholds | None, "deciding.thresholds"),
    "_grown": (Grown | None, "fitted.grown"),
    "_dependences": (Dependences | None, "notes.dependences"),
    "_histograms": (TrainingHistograms | None, "notes.histograms"),
    "_row_prints": (RowPrints | None, "notes.row_prints"),
    # Files of earlier versions repeat parts of the above under these names.
    "members_": (tuple[Member, ...], ""),
    "covariance_": (_Array, ""),
    "noise_coef_": (_Array, ""),
    "noise_covariance_": (_Array, ""),
    "_declared": (Labels | None, ""),
}
NAMES = _PARTS.keys()
"""The names of what files hold of a fitted model, besides parameters."""


def state_of(fitted: Fitted) -> dict[str, Any]:
    """Return a fitted value as named parts; what it does not have is left out."""
    state = {}
    for name, (_, place) in _PARTS.items():
        owner, _, field = place.partition(".")
        whole = fitted if owner == "fitted" else getattr(fitted, owner, None)
        value = None if whole is None else getattr(whole, field)
        if value is not None:
            state[name] = value
    return state


def fitted_of(state: Mapping[str, Any], *, symmetric: bool, precision: Any) -> Fitted:
    """Return the fitted value of named parts; those that cannot be one raise any exception.

    Precision and whether both tails are alike, earlier versions knew from parameters only.
    """
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, value in state.items():
        kind, place = _PARTS[name]
        if not fits(value, kind):
            raise ValueError(f"{name} is not of the type that it should be")
        owner, _, field = place.partition(".")
        found[owner][field] = value
    own = {"symmetric": symmetric} | found["fitted"]
    stack, squared, predictive = (
        own.pop(name, None) for name in ("stack", "squared", "predictive")
    )
    stage, deciding = found["noise_stage"] if stack is None else {}, found["deciding"]
    return Fitted(
        inputs=Inputs(**found["inputs"]),
        training=Training(**found["training"]),
        targets=TargetUnits(**{"precision": precision, **found["targets"]}),
        mean=Layer(**found["layer"]) if stack is None else stack,
        noise=squared if predictive is None else predictive,
        noise_stage=NoiseStage(**stage) if "hidden" in stage else None,
        deciding=Deciding(**deciding) if deciding else None,
        notes=Notes(**found["notes"]),
        **own,
    )
