"""Writes, renames, syncs and opens that fail, and disks that are full."""

import errno
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks.faults.cases import Case, cases
from benchmarks.faults.injection import Injection, Plan
from benchmarks.faults.shim import Fault
from benchmarks.faults.trial import Judged, Trials

# A full disk stays full, a bad sector is met once.
ERRORS = ((errno.ENOSPC, True), (errno.EIO, False))
_LEAST = 2048
"""Bytes that a file may have at least: what a command says goes to a file too."""
_PAGE = 4096
"""Bytes that a disk in memory has at a time."""


def failing(trials: Trials, plan: Plan) -> Iterator[Injection]:
    """Let the n-th call of every command on its files fail."""
    for case in cases():
        for call in plan.chosen(trials.calls(case)):
            for k in range(len(ERRORS)):
                run = partial(fail_at, trials, case, call, k)
                yield Injection("failing call", case.name, 2 * call + k, run)


def fail_at(trials: Trials, case: Case, call: int, k: int, *, again: bool = True) -> Judged:
    """Let the n-th call of a command fail, with the k-th kind of error."""
    error, onward = ERRORS[k]
    trials.prepare(case)
    fault = Fault(str(trials.folder), nth=call, error=error, onward=onward)
    return trials.judge(case, trials.run(case, fault=fault), killed=False, again=again)


def full_disk(trials: Trials, plan: Plan) -> Iterator[Injection]:
    """Let every command run into the end of a small disk."""
    for case in cases():
        if case.outputs:
            for number in plan.numbers():
                run = partial(_fill, trials, plan, case, number)
                yield Injection("full disk", case.name, number, run)


def _fill(trials: Trials, plan: Plan, case: Case, number: int) -> Judged:
    rng = plan.rng("full", case.name, number)
    sizes = [len(content) for content in trials.right(case)[0].values()]
    if not _may_mount():
        trials.prepare(case)
        most = _LEAST + int(rng.uniform(0, max(sizes)))
        return trials.judge(case, trials.run(case, limits={"FSIZE": most}), killed=False)
    trials.prepare(case)
    there = sum(_pages(path.stat().st_size) for path in trials.folder.rglob("*") if path.is_file())
    room = there + int(rng.integers(0, sum(map(_pages, sizes)) + 1))
    with _small_disk(trials.folder.with_name("disk"), room * _PAGE) as disk:
        small = replace(trials, folder=disk / "run")
        small.prepare(case)
        ended = small.run(case)
        # Another run needs room: it is judged on the larger disk.
        _grow(disk)
        return small.judge(case, ended, killed=False)


def _pages(size: int) -> int:
    return -(-size // _PAGE)


def _may_mount() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("mount") is not None


@contextmanager
def _small_disk(place: Path, size: int) -> Iterator[Path]:
    """Give a disk in memory of some bytes."""
    place.mkdir(exist_ok=True)
    _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", place)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)  # noqa: S607


def _grow(place: Path) -> None:
    _mount("-o", "remount,size=64m", place)


def _mount(*arguments: str | Path) -> None:
    subprocess.run(["mount", *map(str, arguments)], check=True)  # noqa: S607
