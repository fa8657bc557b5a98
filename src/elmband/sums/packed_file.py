"""Files of the package: safetensors with a versioned header, without any code to be run.

The header is JSON: the format, the version that wrote it, the kind of what is kept, a tree of its
state and a checksum of everything. Arrays lie beside it. A reader makes objects of the kinds that
it names only, and checks types and shapes of what they are made of.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, TypeAlias

from safetensors import SafetensorError
from safetensors.numpy import load, save

from elmband.ground.files import appearing_whole, naming
from elmband.sums.packing import Arrays, Packer, Shapes, UnknownKindError, Unpacker, digest

Kinds: TypeAlias = Mapping[type[Any], Shapes]

FORMAT = 1
_NAME = "elmband"
# Longer headers than this many bytes are no model's.
_LONGEST = 10_000_000
_LENGTH_BYTES = 8


class Stored(NamedTuple):
    """What a file holds: the kind of model, its state, and the version that wrote it."""

    model: str
    state: dict[str, Any]
    version: str


class Packed(NamedTuple):
    """A model as text and arrays."""

    text: str
    arrays: Arrays


class RefusalError(ValueError):
    """A file is refused for a known reason, which makes a sentence behind its name."""


# Errors that reading a damaged file can end in.
_DAMAGE = (
    SafetensorError,
    AttributeError,
    LookupError,
    MemoryError,
    RecursionError,
    TypeError,
    ValueError,
)


def pack(stored: Stored, kinds: Kinds) -> Packed:
    """Take a model apart; what cannot be is an `UnknownKindError` that names its attribute."""
    packer, state = Packer(kinds, foreign=True), {}
    for name, value in stored.state.items():
        try:
            state[name] = packer.tree(value)
        except UnknownKindError as error:
            raise UnknownKindError(f"in {name}, {error}") from error
    header = {"format": FORMAT, "version": stored.version, "model": stored.model, "state": state}
    header["digest"] = digest(packer.arrays, json.dumps(header))
    return Packed(json.dumps(header), packer.arrays)


def unpack(packed: Packed, kinds: Kinds) -> Stored:
    """Put a model together; nothing but these `kinds` is made."""
    header = json.loads(packed.text)
    if type(header["format"]) is not int or header["format"] > FORMAT:
        version = "".join(filter(str.isprintable, str(header.get("version"))[:20]))
        raise RefusalError(
            f"was written by elmband {version}, whose format is newer: install that version or a "
            "later one."
        )
    if header.pop("digest") != digest(packed.arrays, json.dumps(header)):
        raise ValueError("checksum")
    model, version, tree = header["model"], header["version"], header["state"]
    unpacker = Unpacker(packed.arrays, kinds)
    state = {name: unpacker.value(part) for name, part in tree.items()}
    return Stored(str(model), state, str(version))


def write(path: str | Path, packed: Packed) -> Path:
    """Write a model; the file appears whole or not at all."""
    path = Path(path)
    content = save(packed.arrays, {_NAME: packed.text})
    if int.from_bytes(content[:_LENGTH_BYTES], "little") > _LONGEST:
        raise ValueError("The model cannot be saved: it has too many parts for a file.")
    with appearing_whole(path) as temporary, naming(path):
        temporary.write_bytes(content)
    return path


def read(path: str | Path, kinds: Kinds) -> Stored:
    """Read a model that `write` wrote; nothing but these `kinds` is made."""
    path = Path(path)
    try:
        return unpack(_packed(path), kinds)
    except RefusalError as error:
        raise ValueError(f"{path} {error}") from error
    except _DAMAGE as error:
        raise ValueError(f"{path} is no model file, or it is damaged or was changed.") from error


def _packed(path: Path) -> Packed:
    """Return text and arrays of a file, in memory: another one may take its place meanwhile."""
    with _opened(path) as file:
        start = file.read(_LENGTH_BYTES)
        length = int.from_bytes(start, "little")
        if length > _LONGEST:
            raise ValueError("too long")
        header = file.read(length)
        # Files of other models may be huge, and are not read to the end.
        text = json.loads(header).get("__metadata__", {}).get(_NAME)
        if text is None:
            raise RefusalError("is a safetensors file, but not of an elmband model.")
        return Packed(text, load(start + header + file.read()))


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    """Open a file to read; what the system says against it becomes a sentence."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; load needs the name of a file.")
    if not path.exists():
        raise FileNotFoundError(f"There is no model file {path}.")
    if not path.is_file():
        raise RefusalError("is a device or a pipe, and no model file.")
    try:
        with path.open("rb") as file:
            yield file
    except OSError as error:
        raise type(error)(f"{path} cannot be read: {error.strerror}.") from error
