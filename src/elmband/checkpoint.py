"""Sums on disk: a long fit that was ended goes on where it was, to the same bits.

A folder holds one file for every pass that was begun, with the sums of the chunks so far. Files
are safetensors: arrays and a text that tells how they belong together, nothing that is executed.
"""

import json
from collections.abc import Iterator
from dataclasses import fields
from hashlib import sha256
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from elmband.files import appearing_whole
from elmband.moments import Chunk, Moments

_FORMAT = 1
_JOB = "job.json"
# Seconds between two visits to the disk.
_PATIENCE = 10.0


class Begun(NamedTuple):
    """A pass that was begun: chunks summed so far, their sums, and whether that is all."""

    chunks: int
    sums: Any
    done: bool


class Checkpoint:
    """A folder for the passes of one fit; `fingerprint` tells that fit from any other.

    `seed` is the one the fit was begun with.
    """

    def __init__(self, folder: str | Path, fingerprint: str, seed: int) -> None:
        self._folder = Path(folder)
        self._fingerprint = fingerprint
        self._number = 0
        self.seed = self._begin(seed)

    def _begin(self, seed: int) -> int:
        """Find the fit that was begun in the folder, or begin one."""
        job = self._folder / _JOB
        if self._folder.exists() and not self._folder.is_dir():
            raise ValueError(f"checkpoint must be a folder; {self._folder} is a file.")
        if not job.exists():
            if self._folder.exists() and any(map(_foreign, self._folder.iterdir())):
                raise ValueError(
                    f"{self._folder} holds other files and no checkpoint; name an empty folder."
                )
            self._folder.mkdir(parents=True, exist_ok=True)
            text = {"elmband": _FORMAT, "fingerprint": self._fingerprint, "seed": seed}
            with appearing_whole(job) as temporary:
                temporary.write_text(json.dumps(text))
            return seed
        try:
            text = json.loads(job.read_text())
            known = text["elmband"], text["fingerprint"], int(text["seed"])
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{job} is damaged; delete the folder to begin anew.") from error
        if known[:2] != (_FORMAT, self._fingerprint):
            raise ValueError(
                f"The checkpoint in {self._folder} belongs to another fit: other rows, parameters "
                "or version. Name another folder, or delete this one to begin anew."
            )
        return known[2]

    def next_pass(self) -> "Pass":
        """Return the place of the next pass; passes come in the same order every time."""
        self._number += 1
        path = self._folder / f"pass-{self._number:02d}.safetensors"
        return Pass(path, f"{self._fingerprint}/{self._number}")

    def remove(self) -> None:
        """Delete what is kept: the fit is complete."""
        # Unfinished files are left where a process was killed while it wrote.
        for pattern in ("pass-*.safetensors", ".*.partial", _JOB):
            for path in self._folder.glob(pattern):
                path.unlink(missing_ok=True)
        if not any(self._folder.iterdir()):
            self._folder.rmdir()


class Pass:
    """The file of one pass."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self._saved = monotonic()

    def load(self) -> Begun | None:
        """Return what was kept, or None where the pass has not been begun."""
        if not self._path.exists():
            return None
        try:
            with safe_open(self._path, "np") as file:
                text = json.loads((file.metadata() or {})["elmband"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            begun = Begun(int(text["chunks"]), _built(text["sums"], arrays), bool(text["done"]))
            known = text["name"] == self._name and text["digest"] == _digest(arrays)
        except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(self._refusal) from error
        if not known:
            raise ValueError(self._refusal)
        return begun

    @property
    def _refusal(self) -> str:
        return f"{self._path} is damaged or from another fit; delete the folder to begin anew."

    @property
    def due(self) -> bool:
        """Whether it is time to save again."""
        return monotonic() - self._saved > _PATIENCE

    def save(self, begun: Begun) -> None:
        """Write the sums; the file is replaced as a whole."""
        arrays: dict[str, np.ndarray[Any, Any]] = {}
        tree = _taken_apart(begun.sums, arrays)
        text = {"name": self._name, "chunks": begun.chunks, "done": begun.done, "sums": tree}
        text["digest"] = _digest(arrays)
        with appearing_whole(self._path) as temporary:
            save_file(arrays, temporary, {"elmband": json.dumps(text)})
        self._saved = monotonic()


def _foreign(path: Path) -> bool:
    return path.suffix != ".partial"


def _taken_apart(value: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """Put the arrays of a value aside; return a tree of what is left of it."""
    if isinstance(value, np.ndarray):
        name = f"a{len(arrays)}"
        arrays[name] = np.ascontiguousarray(value)
        return {"array": name, "shape": list(value.shape)}
    if isinstance(value, Moments):
        parts = {f.name: _taken_apart(getattr(value, f.name), arrays) for f in fields(value)}
        return {"sums": type(value).__name__, "parts": parts}
    if isinstance(value, Chunk):
        return {"chunk": [_taken_apart(part, arrays) for part in value]}
    if isinstance(value, tuple):
        return {"tuple": [_taken_apart(part, arrays) for part in value]}
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        # JSON's own decimal form loses nothing, but does not know infinity.
        return {"float": value.hex()}
    if value is None or isinstance(value, bool | int | str):
        return value
    raise ValueError(
        f"A checkpoint keeps NumPy arrays; {type(value).__name__} is not one. "
        "Train without checkpoint=, or on NumPy."
    )


def _built(tree: Any, arrays: dict[str, np.ndarray[Any, Any]]) -> Any:
    """Put a value together again."""
    if not isinstance(tree, dict):
        return tree
    if "array" in tree:
        return arrays[tree["array"]].reshape(tree["shape"])
    if "float" in tree:
        return float.fromhex(tree["float"])
    if "tuple" in tree:
        return tuple(_built(part, arrays) for part in tree["tuple"])
    if "chunk" in tree:
        return Chunk(*(_built(part, arrays) for part in tree["chunk"]))
    kinds = {kind.__name__: kind for kind in _kinds(Moments)}
    parts = {name: _built(part, arrays) for name, part in tree["parts"].items()}
    return kinds[tree["sums"]](**parts)


def _kinds(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield a class and all that are derived from it."""
    yield kind
    for derived in kind.__subclasses__():
        yield from _kinds(derived)


def _digest(arrays: dict[str, np.ndarray[Any, Any]]) -> str:
    digest = sha256()
    for name in sorted(arrays):
        digest.update(name.encode())
        digest.update(arrays[name].tobytes())
    return digest.hexdigest()


def described(value: Any) -> str:
    """Return a text of parameters that is the same in every process."""
    if callable(value):
        return f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', '')}"
    if isinstance(value, dict):
        return str([(described(k), described(v)) for k, v in value.items()])
    if isinstance(value, tuple | list):
        return str([described(part) for part in value])
    if isinstance(value, np.random.RandomState | np.random.Generator):
        return "random"
    return repr(value)
