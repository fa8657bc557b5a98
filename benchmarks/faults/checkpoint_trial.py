"""A process that is given changed checkpoints one after the other, and tells what became of each.

It is started by `benchmarks.faults.checkpoints`.
"""

import copy
import json
import random
import shutil
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.faults import checkpoints
from benchmarks.faults.model_trial import answer_all, as_text, is_finite, told
from benchmarks.faults.mutations import ODD_VALUES, Mutant, Original, change, in_bytes, mutant

from elmband import scan
from elmband.sums.packing import digest

JOB = "job.json"
_FILES, _JOBS = 0.1, 0.25
"""Shares of changes that lose or confuse whole files, and of those that change the job or these."""


class Trial:
    """Tries changed checkpoints of the fits in a folder."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._originals = sorted(p for p in (folder / "originals").glob("*/*") if p.is_dir())
        self._table, self._seed = folder / "originals" / "rows.csv", seed
        self._kept, self._model = folder / "kept", folder / "model.safetensors"
        self._known: set[Path] = set()

    def outcome(self, number: int) -> tuple[str, str]:
        """Return what became of the fit that went on from a changed checkpoint, and why."""
        chance = random.Random(f"{self._seed} {number}")  # noqa: S311 - to be repeated, no secret
        original = self._originals[number % len(self._originals)]
        if original not in self._known:
            # Those of other versions would all be refused, whatever is changed in them.
            found = self._tried(original, None)
            if found[0] != "right":
                return "wrong", f"unchanged: {found}; begin anew in an empty folder"
            self._known.add(original)
        return self._tried(original, chance)

    def _tried(self, original: Path, chance: random.Random | None) -> tuple[str, str]:
        shutil.rmtree(self._kept, ignore_errors=True)
        shutil.copytree(original, self._kept)
        unchanged = Mutant("nothing", b"", signed=False)
        changed = unchanged if chance is None else spoiled(self._kept, chance)
        name = original.parent.name
        label = f"{changed.kind} of {name} at {original.name}"
        return told(lambda: self._judged(name, changed, label), label)

    def _judged(self, name: str, changed: Mutant, label: str) -> tuple[str, str]:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            model = checkpoints.fitted(name, self._table, self._kept)
            model.save(self._model)
            right = self._table.with_name(f"{name}.safetensors").read_bytes()
            if self._model.read_bytes() == right:
                return "right", label
            if not changed.signed:
                return "wrong", f"{label}: another model, unnoticed"
            # Whoever can sign sums can choose a model, but it has to be one.
            answers = as_text(model.predict(scan(self._table, encoder=model.encoder_)))
        if not is_finite(answers) and not changed.absurd:
            return "wrong", f"{label}: predictions are not finite"
        return "right", f"{label}: another model"


def spoiled(folder: Path, chance: random.Random) -> Mutant:
    """Change one of the files of a checkpoint, or take one for another."""
    passes = sorted(folder.glob("pass-*.safetensors"))
    which = chance.random()
    if which < _FILES:
        return _confused(folder, passes, chance)
    path = folder / JOB if which < _JOBS else chance.choice(passes)
    if path.name == JOB:
        changed = _other_job(path, chance)
    else:
        changed = mutant(Original.read(path, "sums"), chance.random().hex())
    path.write_bytes(changed.content)
    return Mutant(f"{path.name}, {changed.kind}", b"", changed.signed, changed.absurd)


def _confused(folder: Path, passes: list[Path], chance: random.Random) -> Mutant:
    """Lose a file, or put one in the place of another."""
    path, other = chance.choice([*passes, folder / JOB]), chance.choice(passes)
    if path == other:
        path.unlink()
    else:
        shutil.copyfile(other, path)
    return Mutant("files", b"", signed=False)


def _other_job(path: Path, chance: random.Random) -> Mutant:
    """Change what the job says, signed anew or not, or its bytes."""
    content = path.read_bytes()
    if chance.random() < 0.3:
        return in_bytes(Original(path.name, content, {}, {}), chance)
    job: Any = json.loads(content)
    job.pop("digest")
    before = copy.deepcopy(job)
    if chance.random() < 0.1:
        job = copy.deepcopy(chance.choice(ODD_VALUES))
    else:
        change(job, chance)
    signed = isinstance(job, dict) and (job == before or chance.random() < 0.9)
    if signed:
        job["digest"] = digest({}, json.dumps(job, sort_keys=True))
    return Mutant("job", json.dumps(job).encode(), signed=signed)


if __name__ == "__main__":
    checkpoints.keep_everything()
    answer_all(Trial(Path(sys.argv[1]), int(sys.argv[2])).outcome)
