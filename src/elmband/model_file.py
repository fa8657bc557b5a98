"""Model files: what `elmband.packed_file` writes, of the kinds that models are made of."""

from pathlib import Path

from elmband import calibrate, packed_file, transform
from elmband.classes import Classes
from elmband.confidence import Confidence, Judge
from elmband.hidden import FeatureMap, HiddenLayer
from elmband.levels import BinLevels, MarkLevels
from elmband.local_layers import LocalLayers, LocalNoise, LocalStage, SharedNeurons
from elmband.mean_stack import MeanStack
from elmband.member import Member
from elmband.moments import Chunk, Gram
from elmband.neurons import Neurons
from elmband.noise.fast import LowRank
from elmband.noise.log import LogNoise
from elmband.noise.output import NoiseModels
from elmband.noise.squared import SquaredNoise
from elmband.output_layer import OutputLayer
from elmband.packed_file import FORMAT, Kinds, Packed, RefusalError, Stored, write
from elmband.pool import KeptRows
from elmband.predictive import Predictive
from elmband.probability import Probability
from elmband.promise import Threshold
from elmband.promise.threshold import Meaning
from elmband.scaling import Scaling
from elmband.select import Selection
from elmband.views import RankScores, SoftClip

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
    Predictive: {},
    Probability: {"slope": "!", "shift": "!", "least": "!"},
    RankScores: {"knots": "kd!<^", "scores": "kd!<"},
    Scaling: {"mean": "d!", "scale": "d+"},
    Selection: {"neurons": "k", "counts": "c", "errors": "c", "alpha": "m"},
    SharedNeurons: {"centre": "l!", "basis": "lk!"},
    SoftClip: {"centre": "d!", "width": "d+", "mean": "d!", "spread": "d+"},
    SquaredNoise: {"mean_covariance": "mll", "noise_covariance": "mkk"},
    Threshold: {},
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
