"""A process that is given changed model files one after the other, and tells what became of each.

It is started by `benchmarks.faults.model_files`, with little memory, and some seconds of processor
time for every file.
"""

import contextlib
import io
import json
import resource
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.faults.mutations import Mutant, Original, mutant

from elmband import load
from elmband.cli.info import _words, facts_of

MEMORY = 3 * 2**30
SECONDS = 20
"""Most bytes of memory of a process, and most seconds of processor time for a file."""

METHODS: dict[str, dict[str, Any]] = {
    "predict": {},
    "predict_interval": {"confidence_level": [0.5, 0.9]},
    "predict_quantiles": {"quantiles": [0.1, 0.5, 0.9]},
    "predict_variance": {},
    "predict_proba": {},
    "predict_confident": {},
    "confidence": {},
    "accept": {"max_width": 1.0},
    "triage": {"max_width": 1.0},
}
# What numbers are allowed to be beyond all bounds: variances and intervals of rows far away.
_FINITE = ("predict", "predict_proba")


class Trial:
    """Tries changed files of the models in a folder."""

    def __init__(self, folder: Path, seed: int) -> None:
        paths = sorted((folder / "originals").glob("*.safetensors"))
        self._originals = [Original.read(path) for path in paths]
        self._rows = np.load(folder / "originals" / "rows.npy")
        self._path, self._seed = folder / "changed.safetensors", seed
        self._expected: dict[str, Any] = {}

    def changed(self, number: int) -> tuple[Original, Mutant]:
        """Return one of the files, and a changed one."""
        original = self._originals[number % len(self._originals)]
        return original, mutant(original, f"{self._seed} {number}")

    def outcome(self, number: int) -> tuple[str, str]:
        """Return what became of a changed file, and why."""
        original, changed = self.changed(number)
        label = f"{changed.kind} of {original.name}"
        self._path.write_bytes(changed.content)
        return told(lambda: self._judged(original, changed, label), label)

    def _judged(self, original: Original, changed: Mutant, label: str) -> tuple[str, str]:
        found = self._used(self._path)
        if not changed.signed and found != self._right(original):
            return "wrong", f"{label}: other answers than before, unnoticed"
        odd = [name for name in _FINITE if not is_finite(found.get(name, ""))]
        if odd and not changed.absurd:
            return "wrong", f"{label}: {odd[0]} is not finite"
        return "right", label

    def _right(self, original: Original) -> dict[str, str]:
        if original.name not in self._expected:
            path = self._path.with_name(f"whole-{self._path.name}")
            path.write_bytes(original.content)
            self._expected[original.name] = self._used(path)
        return self._expected[original.name]

    def _used(self, path: Path) -> dict[str, str]:
        """Load a model and ask it everything; return the answers as text."""
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = load(path)
            facts = facts_of(model, str(path))
            json.dumps(facts, default=str)
            _words(model, facts)
            found = {"info": str(sorted(facts["parameters"]))}
            rows = self._rows[:, : model.n_features_in_]
            for name, options in METHODS.items():
                if not hasattr(model, name):
                    continue
                # Classes are decided without a width.
                given = {} if hasattr(model, "classes_") and "max_width" in options else options
                found[name] = as_text(getattr(model, name)(rows, **given))
        return found


def as_text(answer: Any) -> str:
    """Return the numbers of an answer, which may have several parts, as text."""
    parts = vars(answer) if hasattr(answer, "__dict__") else answer
    if isinstance(parts, dict):
        parts = tuple(parts.values())
    return repr([np.asarray(p).tolist() for p in (parts if isinstance(parts, tuple) else [parts])])


def is_finite(text: str) -> bool:
    """Tell whether all numbers of an answer are finite."""
    return "nan" not in text and "inf" not in text


def told(judged: Callable[[], tuple[str, str]], label: str) -> tuple[str, str]:
    """Return what became of a changed file, and why, also where that is an error."""
    try:
        return judged()
    except ValueError as error:
        return refused(error, label)
    except MemoryError as error:
        return "wrong", f"{label}: out of memory {error}"
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what is looked for
        return "crashed", f"{label}: {place(error)}"


def refused(error: ValueError, label: str) -> tuple[str, str]:
    """Tell a sentence from what a library says."""
    own = any("elmband" in frame for frame in _frames(error)[-1:])
    sentence = str(error)
    if own and sentence and "\n" not in sentence and sentence.endswith((".", ")")):
        return "refused", label
    return "crashed", f"{label}: no sentence, {place(error)}"


def _frames(error: BaseException) -> list[str]:
    trace, found = error.__traceback__, []
    while trace is not None:
        found.append(f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}")
        trace = trace.tb_next
    return found


def place(error: BaseException) -> str:
    """Return what was raised, and where in the library."""
    frames = [name for name in _frames(error) if "elmband" in name]
    last = frames[-1].rpartition("elmband/")[2] if frames else "?"
    return f"{type(error).__name__} at {last}: {str(error)[:150]!r}"


def _limited() -> None:
    """Give the process some more seconds; beyond them the system ends it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + SECONDS, hard))


def answer_all(outcome: Callable[[int], tuple[str, str]]) -> None:
    """Answer numbers of changed files, one a line, by what became of them."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out, sink = sys.stdout, io.StringIO()
    for line in sys.stdin:
        _limited()
        with contextlib.redirect_stdout(sink):
            answer = outcome(int(line))
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    answer_all(Trial(Path(sys.argv[1]), int(sys.argv[2])).outcome)
