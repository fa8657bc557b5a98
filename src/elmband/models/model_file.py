"""Model files: what `elmband.sums.packed_file` writes, of the kinds that models are made of."""

from pathlib import Path

from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.member import Member
from elmband.layers.neurons import Neurons
from elmband.layers.output_layer import OutputLayer
from elmband.layers.packed_root import PackedRoot
from elmband.layers.select import Selection
from elmband.layers.views import RankScores, SoftClip
from elmband.stacks.kept_rows import KeptRows
from elmband.stacks.levels import BinLevels, MarkLevels
from elmband.stacks.local_layers import LocalLayers, LocalNoise, LocalStage, SharedNeurons
from elmband.stacks.mean_stack import MeanStack
from elmband.sums import packed_file
from elmband.sums.moments import Chunk, Gram
from elmband.sums.packed_file import FORMAT, Kinds, Packed, RefusalError, Stored, write
from elmband.sums.scaling import Scaling
from elmband.uncertainty import calibrate, transform
from elmband.uncertainty.classes import Classes
from elmband.uncertainty.confidence import Confidence, Judge
from elmband.uncertainty.noise.fast import LowRank
from elmband.uncertainty.noise.log import LogNoise
from elmband.uncertainty.noise.output import NoiseModels
from elmband.uncertainty.noise.squared import SquaredNoise
from elmband.uncertainty.predictive import Predictive
from elmband.uncertainty.probability import Probability
from elmband.uncertainty.promise import Threshold
from elmband.uncertainty.promise.threshold import Meaning
from elmband.uncertainty.width_error import WidthError

KINDS: Kinds = {
    BinLevels: {"edges": "e!<"},
    Chunk: {"X": "nd!", "Y": "nm!", "s": "n!"},
    Classes: {"labels": "k", "weights": "k"},
    Confidence: {},
    FeatureMap: {},
    Gram: {"HtH": "ll", "HtY": "lm", "YtY": "m"},
    HiddenLayer: {},
    Judge: {"low": "f", "high": "f", "centre": "p", "scale": "p", "coef": "p"},
    KeptRows: {"keys": "n"},
    LocalLayers: {},
    LocalNoise: {},
    LocalStage: {"coef": "gk!", "variance": "gk!"},
    LogNoise: {"centre": "l!", "coef": "l!", "covariance": "ll"},
    LowRank: {"factors": "mlk", "rest": "m"},
    MarkLevels: {},
    Meaning: {},
    MeanStack: {"weights": "km!"},
    Member: {"centre": "l!", "intercept": "m!", "coef": "lm!", "alpha": "m"},
    Neurons: {"weights": "dl!", "bias": "l!", "metric": "id!"},
    NoiseModels: {},
    OutputLayer: {"coef": "lm!", "alpha": "m"},
    PackedRoot: {"entries": "mt!"},
    Predictive: {},
    Probability: {"slope": "!", "shift": "!", "least": "!"},
    RankScores: {"knots": "kd!<^", "scores": "kd!<"},
    Scaling: {"mean": "d!", "scale": "d+"},
    Selection: {"neurons": "k", "counts": "c", "errors": "c", "alpha": "m"},
    SharedNeurons: {"centre": "l!", "basis": "lk!"},
    SoftClip: {"centre": "d!", "width": "d+", "mean": "d!", "spread": "d+"},
    SquaredNoise: {"mean_covariance": "mll", "noise_covariance": "mkk"},
    Threshold: {},
    WidthError: {},
    calibrate.Calibration: {},
    calibrate.OutputScores: {},
    calibrate.Scores: {"t": "n<", "cumulated": "n!<"},
    transform.BoxCox: {},
    transform.Identity: {},
    transform.Log: {},
    transform.Log1p: {},
    transform.Logit: {},
}


def pack(stored: Stored, kinds: Kinds) -> Packed:
    """Take a model apart; what cannot be is an `UnknownKindError` that names its attribute."""
    return packed_file.pack(stored, {**KINDS, **kinds})


def unpack(packed: Packed, kinds: Kinds) -> Stored:
    """Put a model together; `kinds` are made besides those listed here."""
    return packed_file.unpack(packed, {**KINDS, **kinds})


def read(path: str | Path, kinds: Kinds) -> Stored:
    """Read a model that `write` wrote; `kinds` are made besides those listed here."""
    return packed_file.read(path, {**KINDS, **kinds})


__all__ = [
    "FORMAT",
    "KINDS",
    "Kinds",
    "Packed",
    "RefusalError",
    "Stored",
    "pack",
    "read",
    "unpack",
    "write",
]
