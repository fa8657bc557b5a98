"""Sums on disk: a long fit that was ended goes on where it was, to the same bits.

A folder holds one file for every pass that was begun, with the sums of the chunks so far. Files
are safetensors: arrays and a text that tells how they belong together, nothing that is executed.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from elmband.files import appearing_whole
from elmband.moments import Chunk, Moments
from elmband.packing import Arrays, Packer, Unpacker, digest

_FORMAT = 3
_JOB = "job.json"
# Seconds between two visits to the disk.
_PATIENCE = 10.0


class Begun(NamedTuple):
    """A pass that was begun: chunks summed so far, their sums, and whether that is all.

    `n_rows` are the rows of the source where the pass has counted them.
    """

    chunks: int
    sums: Any
    done: bool
    n_rows: int | None = None


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
            text = {"elmband": _FORMAT, "fingerprint": self._fingerprint, "seed": seed}
            with _kept_in(self._folder):
                self._folder.mkdir(parents=True, exist_ok=True)
                with appearing_whole(job) as temporary:
                    temporary.write_text(json.dumps({**text, "digest": _digest(text)}))
            return seed
        try:
            text = json.loads(job.read_text())
            known = text["elmband"], text["fingerprint"], int(text["seed"])
            damaged = known[0] == _FORMAT and text.pop("digest") != _digest(text)
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(_damaged(job)) from error
        if damaged:
            raise ValueError(_damaged(job))
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
            sums = Unpacker(arrays, [*_kinds(Moments), Chunk]).value(text["sums"])
            n_rows = text["n_rows"]
            begun = Begun(int(text["chunks"]), sums, bool(text["done"]), n_rows and int(n_rows))
            known = text.pop("digest") == _digest(text, arrays) and text["name"] == self._name
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
        packer = Packer()
        try:
            tree = packer.tree(begun.sums)
        except ValueError as error:
            raise ValueError(
                f"A checkpoint cannot be kept: {error} Train without checkpoint=, or on NumPy."
            ) from error
        arrays = packer.arrays
        text = {"name": self._name, **begun._asdict(), "sums": tree}
        text["digest"] = _digest(text, arrays)
        with _kept_in(self._path.parent), appearing_whole(self._path) as temporary:
            save_file(arrays, temporary, {"elmband": json.dumps(text)})
        self._saved = monotonic()


def _digest(text: dict[str, Any], arrays: Arrays | None = None) -> str:
    """Return a checksum of all that a file says: of its arrays, and of what tells their meaning."""
    return digest(arrays or {}, json.dumps(text, sort_keys=True))


def _damaged(path: Path) -> str:
    return f"{path} is damaged; delete the folder to begin anew."


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Say in a sentence that nothing can be kept; what was kept before stays as it is."""
    try:
        yield
    except (SafetensorError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OSError(
            f"The checkpoint in {folder} could not be kept: {reason.rstrip('.')}. Make room or "
            "name another folder; the same fit goes on from what was kept before."
        ) from error


def _foreign(path: Path) -> bool:
    return path.suffix != ".partial"


def _kinds(kind: type[Any]) -> Iterator[type[Any]]:
    """Yield a class and all that are derived from it."""
    yield kind
    for derived in kind.__subclasses__():
        yield from _kinds(derived)


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
