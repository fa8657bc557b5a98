"""Two commands at once with the same output: the file is that of one of them, whole."""

import time
from collections.abc import Iterator
from functools import partial

from benchmarks.faults.cases import Case, named
from benchmarks.faults.injection import Injection, Plan
from benchmarks.faults.processes import SECONDS, Ended, await_end, start
from benchmarks.faults.trial import Judged, Trials

CASES = (
    ("predict text.csv to csv", "predict plain.csv to csv"),
    ("predict text.parquet to parquet", "predict plain.npy to parquet"),
    ("predict plain.npy to h5", "predict plain.npy to h5"),
)
"""Pairs of commands that write the same file."""
_APART = 0.3
"""Seconds between their starts at most."""


def pairs(trials: Trials, plan: Plan) -> Iterator[Injection]:
    """Run commands that write the same file, side by side."""
    for one, other in CASES:
        for number in plan.numbers():
            delay = float(plan.rng("together", one, number).uniform(0, _APART))
            run = partial(side_by_side, trials, named(one, other), delay)
            yield Injection("two at once", one, number, run)


def side_by_side(trials: Trials, cases: list[Case], delay: float) -> Judged:
    """Start both, the second a little later, and look at what is left."""
    name = cases[0].outputs[0]
    answers = [trials.right(case)[0][name] for case in cases]
    inputs = tuple(dict.fromkeys(name for case in cases for name in case.inputs))
    trials.prepare(Case("both", (), inputs, (name,)))
    before = {path.name for path in trials.folder.iterdir()}
    running = []
    for case in cases:
        running.append(start(case.arguments, trials.folder))
        time.sleep(delay)
    begun = time.perf_counter()
    ended = [await_end(process, begun) for process in running]
    left = {path.name for path in trials.folder.iterdir()} - before
    return _judged(ended, (trials.folder / name).read_bytes(), answers, left)


def _judged(ended: list[Ended], found: bytes, answers: list[bytes], left: set[str]) -> Judged:
    if any(one.status is None for one in ended):
        return Judged("hung", f"after {SECONDS} s")
    bad = [one for one in ended if one.has_traceback or (one.status or 0) < 0]
    if bad:
        return Judged("crashed", bad[0].complained[-300:])
    if any(one.status and not one.is_one_sentence for one in ended):
        return Judged("wrong", "not one sentence")
    right = [answer for one, answer in zip(ended, answers, strict=True) if one.status == 0]
    if found not in right:
        return Judged("lost", "the file is that of neither command")
    if left:
        return Judged("wrong", f"left behind: {', '.join(sorted(left))}")
    return Judged("right")
