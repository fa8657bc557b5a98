"""Checkpoints: sums on disk, from which an interrupted fit resumes, to the same bits.

A folder holds one file for every pass that was begun, with the sums of the chunks so far. Files
are safetensors: arrays and a text that tells how they belong together, nothing that is executed.
"""

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple, Self
from warnings import warn

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from elmband.ground.files import appearing_whole
from elmband.ground.folder_lock import LOCK_NAME, FolderLock
from elmband.sums.moments import Chunk, Moments
from elmband.sums.packing import Arrays, Packer, Unpacker, digest

_FORMAT = 3
_JOB = "job.json"
# Seconds between two visits to the disk.
_PATIENCE = 10.0
# Names of our files in full: others may have files whose names begin alike.
_PASS = re.compile(r"pass-\d{2,}\.safetensors")
# Files that a process of ours was writing when it was killed; others may have unfinished files too.
_UNFINISHED = re.compile(r"\.(job\.json|pass-\d{2,}\.safetensors)\.[0-9a-f]{8}\.partial")


# Errors that reading a damaged file can end in.
_DAMAGE = (
    SafetensorError,
    OSError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
# Errors that a fit can end in that goes on from damaged sums, or from those of another fit.
_MISFITS = (*(kind for kind in _DAMAGE if kind is not OSError), AssertionError, StopIteration)
# Seeds are smaller than this.
_SEEDS = 2**31


class DamagedError(ValueError):
    """A checkpoint is damaged, or belongs to another fit."""


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

    `seed` is the one the fit was begun with. As a context, the folder belongs to this process
    until the end. A fit that is refused there, for a parameter or for its rows, leaves nothing of
    its own; what was kept before stays, for the same fit, or for the corrected one to replace.
    """

    def __init__(self, folder: str | Path, fingerprint: str, seed: int) -> None:
        self._folder = Path(folder)
        self._fingerprint = fingerprint
        self._passes: list[Pass] = []
        self._is_new, self._refused = False, False
        self._made: list[Path] = []
        self._lock = self._locked()
        try:
            self.seed = self._begin(seed)
        except BaseException:
            self._leave()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        try:
            if any(one.gone_on for one in self._passes) and _is_misfit(error):
                raise DamagedError(
                    f"The fit cannot go on from what is kept in {self._folder}: it is damaged or "
                    "was changed. Delete the folder to begin anew."
                ) from error
            # The same parameters and rows will be refused again.
            if _is_refusal(error):
                useless = self._is_new and self._refused
                self.remove() if useless else self._write_job(self.seed, refused=True)
        finally:
            self._leave()

    def _locked(self) -> FolderLock:
        """Make the folder if it is not there, and keep other processes out of it."""
        if self._folder.exists() and not self._folder.is_dir():
            raise ValueError(f"checkpoint must be a folder; {self._folder} is a file.")
        while True:
            self._refuse_others()
            with _kept_in(self._folder):
                above = (self._folder, *self._folder.parents)
                self._made += [path for path in above if not path.exists()]
                self._folder.mkdir(parents=True, exist_ok=True)
                try:
                    return FolderLock(self._folder)
                except FileNotFoundError:
                    # Another fit was done and has just removed the folder.
                    continue

    def _refuse_others(self) -> None:
        """Refuse a folder of other files, before anything is written to it."""
        folder = self._folder
        if not folder.exists() or (folder / _JOB).exists():
            return
        others = [path for path in folder.iterdir() if _is_foreign(path)]
        if any(not _PASS.fullmatch(path.name) for path in others):
            raise ValueError(f"{folder} holds other files and no checkpoint; name an empty folder.")
        if others:
            raise DamagedError(
                f"{folder} holds {others[0].name} but no {_JOB}, without which nobody knows which "
                "fit it belongs to; delete the folder to begin anew, or name an empty one."
            )

    def _begin(self, seed: int) -> int:
        """Find the fit that was begun in the folder, or begin one."""
        self._refuse_others()
        _remove(path for path in self._folder.iterdir() if _UNFINISHED.fullmatch(path.name))
        if not (self._folder / _JOB).exists():
            self._is_new = True
            self._write_job(seed)
            return seed
        job = self._read_job()
        begun_with: int = job["seed"]
        if (job["elmband"], job["fingerprint"]) == (_FORMAT, self._fingerprint):
            if job.get("refused"):
                # Take back the note of refusal, so that no other fit replaces it.
                self._write_job(begun_with)
            return begun_with
        if not job.get("refused"):
            raise ValueError(
                f"The checkpoint in {self._folder} belongs to another fit: other rows, parameters "
                "or version. Name another folder, or delete this one to begin anew."
            )
        _remove(path for path in self._folder.iterdir() if _PASS.fullmatch(path.name))
        self._write_job(seed)
        return seed

    def _write_job(self, seed: int, *, refused: bool = False) -> None:
        text = {"elmband": _FORMAT, "fingerprint": self._fingerprint, "seed": seed}
        text |= {"refused": True} if refused else {}
        with _kept_in(self._folder), appearing_whole(self._folder / _JOB) as temporary:
            temporary.write_text(json.dumps({**text, "digest": _digest(text)}))

    def _read_job(self) -> dict[str, Any]:
        path = self._folder / _JOB
        try:
            job: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
            known = job["elmband"] == _FORMAT and bool(job["fingerprint"])
            damaged = known and job.pop("digest") != _digest(job)
            damaged |= not _counts(job["seed"]) or job["seed"] >= _SEEDS
        except _DAMAGE as error:
            raise DamagedError(_damaged(path)) from error
        if damaged:
            raise DamagedError(_damaged(path))
        return job

    def next_pass(self) -> "Pass":
        """Return the place of the next pass; passes come in the same order every time."""
        number = len(self._passes) + 1
        path = self._folder / f"pass-{number:02d}.safetensors"
        self._passes.append(Pass(path, f"{self._fingerprint}/{number}"))
        return self._passes[-1]

    def remove(self) -> None:
        """Delete what is kept: the fit is complete."""
        # The job file goes last: passes without it would look like files of somebody else.
        _remove(path for path in self._folder.iterdir() if _PASS.fullmatch(path.name))
        _remove([self._folder / _JOB])

    @contextmanager
    def noting_refusal(self) -> Iterator[None]:
        """Note whether an error refused the fit itself, not what is done with its result."""
        try:
            yield
        except (ValueError, TypeError) as error:
            self._refused = _is_refusal(error)
            raise

    @contextmanager
    def until_complete(self) -> Iterator[Self]:
        """Keep what is summed within this context, and delete it at the end if nothing fails."""
        with self:
            yield self
            try:
                self.remove()
            except OSError as error:  # which is no reason to lose the model
                warn(
                    f"The checkpoint in {self._folder} could not be removed ({error.strerror}); "
                    "delete it.",
                    stacklevel=2,
                )
                return
            self._tell_of_others()

    def _leave(self) -> None:
        """Release the folder, and remove it if empty; after a refused fit, all that it made."""
        self._lock.release()
        with suppress(OSError):
            for path in self._made if self._refused else [self._folder]:
                path.rmdir()

    def _tell_of_others(self) -> None:
        """Warn that the folder stays after the fit, because it holds files of others."""
        others = sorted(path.name for path in self._files() if _is_foreign(path))
        if others:
            warn(
                f"The checkpoint is removed, but its folder {self._folder} stays: it holds "
                f"{others[0]}, which is no file of a checkpoint.",
                stacklevel=2,
            )

    def _files(self) -> list[Path]:
        """Return the files of the folder, none where it is gone."""
        with suppress(OSError):
            return list(self._folder.iterdir())
        return []


def _is_refusal(error: BaseException | None) -> bool:
    """Tell whether an error refused a fit for its parameters or rows, as it would again."""
    return isinstance(error, ValueError | TypeError) and not isinstance(error, DamagedError)


# What closes checkpoints that outlast their fit.
_outlasting: ContextVar[ExitStack | None] = ContextVar("outlasting", default=None)


@contextmanager
def kept_until_saved() -> Iterator[None]:
    """Let checkpoints of fits within this block stand until it ends, and go only if it ends well.

    It is for whoever has more to do before a model is safe, such as writing it to a file: if that
    fails, the same fit is done again at once.
    """
    with ExitStack() as stack:
        token = _outlasting.set(stack)
        try:
            yield
        finally:
            _outlasting.reset(token)


def owner(fit: ExitStack) -> ExitStack:
    """Return what a checkpoint belongs to: a fit, or the block of `kept_until_saved` around it."""
    return _outlasting.get() or fit


class Pass:
    """The file of one pass; `gone_on` tells whether its sums were taken from there."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        self.gone_on = False
        self._saved = monotonic()

    def load(self) -> Begun | None:
        """Return what was kept, or None where the pass has not been begun."""
        if not self._path.exists():
            return None
        try:
            with safe_open(self._path, "np") as file:
                text = json.loads((file.metadata() or {})["elmband"])
                arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            known = text.pop("digest") == _digest(text, arrays) and text["name"] == self._name
            begun = _begun(text, arrays) if known else None
        except _DAMAGE as error:
            raise DamagedError(self._refusal) from error
        if begun is None:
            raise DamagedError(self._refusal)
        self.gone_on = True
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
            # Not `save_file`: its temporary files have names that we could not tell from others'.
            temporary.write_bytes(save(arrays, {"elmband": json.dumps(text)}))
        self._saved = monotonic()


def _begun(text: dict[str, Any], arrays: Arrays) -> Begun:
    """Return what a pass has kept, or raise ValueError where no pass can have written it."""
    if any(array.dtype.kind == "f" and not np.isfinite(array).all() for array in arrays.values()):
        raise ValueError("numbers that are not finite")
    begun = Begun(**{name: text[name] for name in Begun._fields})
    if not (_counts(begun.chunks) and (begun.n_rows is None or _counts(begun.n_rows))):
        raise ValueError("no counts")
    sums = Unpacker(arrays, [*_kinds(Moments), Chunk]).value(begun.sums)
    if type(begun.done) is not bool or not isinstance(sums, Moments):
        raise TypeError("no sums")
    return begun._replace(sums=sums)


def _counts(value: Any) -> bool:
    """Tell whether a value is a whole number of at least 0."""
    return type(value) is int and 0 <= value < 2**63


def _is_misfit(error: BaseException | None) -> bool:
    """Tell errors that damaged sums end in from refusals of the fit, which are sentences."""
    refusal = isinstance(error, ValueError) and str(error).endswith(".")
    return isinstance(error, _MISFITS) and not refusal


def _digest(text: dict[str, Any], arrays: Arrays | None = None) -> str:
    """Return a checksum of a file: of its arrays, and of the text that says what they are."""
    return digest(arrays or {}, json.dumps(text, sort_keys=True))


def _damaged(path: Path) -> str:
    return f"{path} is damaged; delete the folder to begin anew."


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """Turn errors of writing into a sentence; what was kept before stays as it is."""
    try:
        yield
    except BlockingIOError:
        raise  # somebody else has it, which is a sentence
    except (SafetensorError, OSError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise OSError(
            f"The checkpoint in {folder} could not be kept: {reason.rstrip('.')}. Make room or "
            "name another folder; the same fit goes on from what was kept before."
        ) from error


def _is_foreign(path: Path) -> bool:
    """Tell whether a file is neither our lock nor an unfinished file that a killed fit left."""
    return path.name != LOCK_NAME and not _UNFINISHED.fullmatch(path.name)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


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
