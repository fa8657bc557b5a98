"""Tables with flipped bytes, lost ends and lost pieces, of every format, with and without text."""

import csv
import io
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from benchmarks.faults.cases import Case
from benchmarks.faults.injection import Injection, Plan
from benchmarks.faults.material import ARRAYS, INTERVALS, NUMBERS, STORES, TABLES, TARGET
from benchmarks.faults.processes import MEMORY, Ended
from benchmarks.faults.trial import OLD, Judged, Trials

LIMITS = {"AS": MEMORY}
_TOGETHER = 20
"""Tables that a process reads."""
_GROWN = 3
"""An answer so many times as long as the right one holds what was in no table."""
_LONGEST = 500
"""Characters of a cell; the longest text of the tables has 12."""


def sources() -> list[Case]:
    """Return the commands that read tables which are to be damaged."""
    out = ("-o", "out.csv")
    texts = [
        Case(
            f"text.{kind}",
            ("predict", INTERVALS, f"text.{kind}", "--keep-all", *out),
            (INTERVALS, f"text.{kind}"),
            ("out.csv",),
        )
        for kind in TABLES
    ]
    # Stores of arrays hold text beside the numbers that are read.
    names = [f"plain.{kind}" for kind in (*TABLES, *ARRAYS)] + [f"text.{kind}" for kind in STORES]
    plain = [
        Case(name, ("predict", NUMBERS, name, *out), (NUMBERS, name), ("out.csv",))
        for name in names
    ]
    return texts + plain


def damage(trials: Trials, plan: Plan) -> Iterator[Injection]:
    """Damage every table in many ways, and predict it; every fifth is learned from."""
    for case in sources():
        numbers = list(plan.numbers())
        for first in range(0, len(numbers), _TOGETHER):
            batch = _Batch(trials, plan, case, numbers[first : first + _TOGETHER])
            for number in batch.numbers:
                yield Injection("damaged input", case.name, number, partial(batch.judged, number))


class _Batch:
    """Some damaged copies of a table, which one process reads one after the other."""

    def __init__(self, trials: Trials, plan: Plan, case: Case, numbers: list[int]) -> None:
        self._trials, self._plan, self._case, self.numbers = trials, plan, case, numbers
        self._found: dict[int, Judged] = {}

    def judged(self, number: int) -> Judged:
        """Return what became of one of them; with the first, all are run."""
        if not self._found:
            rngs = [self._plan.rng("damage", self._case.name, one) for one in self.numbers]
            found = damaged(self._trials, self._case, rngs)
            self._found = dict(zip(self.numbers, found, strict=True))
        return self._found[number]


def damaged(trials: Trials, case: Case, rngs: list[np.random.Generator]) -> list[Judged]:
    """Run a command on copies of its table that are damaged, each in another way."""
    clean = trials.right(case)[0]["out.csv"]
    shutil.rmtree(trials.folder)
    places, commands = [], []
    for k, rng in enumerate(rngs):
        there = replace(trials, folder=trials.folder / str(k))
        there.prepare(case)
        hurt(there.folder / case.inputs[1], rng)
        places.append(there.folder)
        commands.append((_learning(case) if k % 5 == 4 else case.arguments, there.folder))
    ended = trials.server.run_many(commands, LIMITS)
    return [
        _judged(place, end, None if k % 5 == 4 else clean)
        for k, (place, end) in enumerate(zip(places, ended, strict=True))
    ]


def _learning(case: Case) -> tuple[str, ...]:
    """Return the fit of a table, in place of its prediction."""
    source = case.inputs[1]
    target = "-1" if source.rpartition(".")[2] in ARRAYS else TARGET
    how = ("--target", target, "--neurons", "5", "--published", "-o", "out.csv")
    return ("fit", source, *how)


def hurt(path: Path, rng: np.random.Generator) -> None:
    """Flip some bytes of a file, or of one in a folder, or cut it, or take a piece out of it."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file())
        path = files[rng.integers(len(files))]
    content = bytearray(path.read_bytes())
    way = rng.integers(10)
    if way == 0:
        del content[rng.integers(len(content)) :]
    elif way == 1:
        first = int(rng.integers(len(content)))
        del content[first : first + int(rng.integers(1, 64))]
    else:
        # The ends of a file are where formats say what lies where.
        ends = rng.random() < 0.5
        for _ in range(int(rng.integers(1, 5))):
            place = int(rng.integers(len(content)))
            if ends:
                far = min(len(content), 600)
                place = int(rng.integers(far)) - (far if rng.random() < 0.5 else 0)
            content[place] = int(rng.integers(256))
    path.write_bytes(content)


def _judged(folder: Path, ended: Ended, clean: bytes | None) -> Judged:
    """Judge by the status and the output; `clean` is the right one, None for a model."""
    if ended.status is None:
        return Judged("hung", f"after {ended.seconds:.0f} s")
    if ended.has_traceback or ended.status < 0:
        return Judged("crashed", f"{ended.status}: {ended.complained[-300:]}")
    left = [path.name for path in folder.iterdir() if path.name.endswith(".partial")]
    if left:
        return Judged("wrong", f"left behind: {', '.join(left)}")
    found = (folder / "out.csv").read_bytes()
    if ended.status:
        return _refused(ended, found)
    return Judged("right") if clean is None else _valid(found, clean)


def _refused(ended: Ended, found: bytes) -> Judged:
    if found != OLD:
        return Judged("lost", "refused, and the old output is gone")
    if not ended.is_one_sentence:
        return Judged("wrong", f"not one sentence: {ended.complained[:300]}")
    return Judged("refused")


def _valid(found: bytes, clean: bytes) -> Judged:
    """Tell whether an answer is one to a table, if perhaps to another one."""
    if len(found) > _GROWN * len(clean):
        return Judged("wrong", f"{len(found):,} bytes instead of {len(clean):,}")
    try:
        rows = list(csv.reader(io.StringIO(found.decode())))
    except (UnicodeDecodeError, csv.Error) as error:
        return Judged("wrong", f"no CSV: {error}")
    if len({len(row) for row in rows}) != 1:
        return Judged("wrong", "rows of different lengths")
    if max(len(cell) for row in rows for cell in row) > _LONGEST:
        return Judged("wrong", "text from beyond the table")
    mean = rows[0].index("mean")
    if not all(np.isfinite(float(row[mean])) for row in rows[1:]):
        return Judged("wrong", "a mean that is no number")
    return Judged("right")
