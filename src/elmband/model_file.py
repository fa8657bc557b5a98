"""Model files: safetensors with a versioned header, which hold nothing that could be run.

The header is JSON: the format, the version that wrote it, the kind of model, a tree of its state
and a checksum of everything. Arrays lie beside it. A reader makes objects of the kinds listed
here only.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from elmband import calibrate, transform
from elmband.classes import Classes
from elmband.confidence import Answer, Confidence, Judge
from elmband.files import appearing_whole, check_writable
from elmband.hidden import FeatureMap, HiddenLayer
from elmband.member import Member
from elmband.moments import Chunk, Gram
from elmband.neurons import Neurons
from elmband.noise.fast import LowRank
from elmband.noise.log import LogNoise
from elmband.noise.squared import SquaredNoise
from elmband.output_layer import OutputLayer
from elmband.packing import Packer, UnknownKindError, Unpacker, digest
from elmband.pool import KeptRows
from elmband.predictive import MeanStack, NoiseModels, Predictive
from elmband.probability import Probability
from elmband.promise import Threshold
from elmband.promise.threshold import Meaning
from elmband.scaling import Scaling
from elmband.select import Selection

__all__ = ["FORMAT", "Stored", "UnknownKindError", "read", "write"]

FORMAT = 1
_NAME = "elmband"
# A header of this many characters belongs to no model.
_LONGEST = 50_000_000

KINDS: tuple[type[Any], ...] = (
    Answer,
    Chunk,
    Classes,
    Confidence,
    FeatureMap,
    Gram,
    HiddenLayer,
    Judge,
    KeptRows,
    LogNoise,
    LowRank,
    Meaning,
    MeanStack,
    Member,
    Neurons,
    NoiseModels,
    OutputLayer,
    Predictive,
    Probability,
    Scaling,
    Selection,
    SquaredNoise,
    Threshold,
    calibrate.Calibration,
    calibrate.OutputScores,
    calibrate.Scores,
    transform.BoxCox,
    transform.Identity,
    transform.Log,
    transform.Log1p,
    transform.Logit,
)


class Stored(NamedTuple):
    """What a file holds: the kind of model, its state, and the version that wrote it."""

    model: str
    state: dict[str, Any]
    version: str


def write(path: str | Path, stored: Stored) -> Path:
    """Write a model; the file appears whole or not at all."""
    path = Path(path)
    check_writable(path)
    packer = Packer(foreign=True)
    tree = packer.tree(stored.state)
    header = {"format": FORMAT, "version": stored.version, "model": stored.model, "state": tree}
    text = json.dumps(header)
    header["digest"] = digest(packer.arrays, text)
    with appearing_whole(path) as temporary:
        save_file(packer.arrays, temporary, {_NAME: json.dumps(header)})
    return path


def read(path: str | Path, kinds: tuple[type[Any], ...] = ()) -> Stored:
    """Read a model that `write` wrote; `kinds` are made besides those listed here."""
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {path}.")
    try:
        with safe_open(path, "np") as file:
            text = (file.metadata() or {}).get(_NAME, "")
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise ValueError(f"{path} is no model file, or it is damaged: {error}.") from error
    if not text:
        raise ValueError(f"{path} is a safetensors file, but not of an elmband model.")
    try:
        return _stored(text, arrays, kinds)
    except _FormatError as error:
        raise ValueError(f"{path} {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged or was changed: it cannot be put together.") from error


class _FormatError(Exception):
    """A file that is whole, and of no use all the same."""


def _stored(text: str, arrays: Any, kinds: tuple[type[Any], ...]) -> Stored:
    if len(text) > _LONGEST:
        raise ValueError("too long")
    header = json.loads(text)
    if not isinstance(header["format"], int) or header["format"] > FORMAT:
        raise _FormatError(
            f"was written by elmband {str(header.get('version'))[:20]}, whose format is newer: "
            "install that version or a later one."
        )
    checksum = header.pop("digest")
    if checksum != digest(arrays, json.dumps(header)):
        raise ValueError("checksum")
    state = Unpacker(arrays, (*KINDS, *kinds)).value(header["state"])
    if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
        raise TypeError("state")
    return Stored(str(header["model"]), state, str(header["version"]))
