"""Run what is not finished yet: one process after the other, each with one part of one method."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass

from benchmarks.answers.parts import PARTS, WIDTHS_OF, Part
from benchmarks.answers.rivals import METHODS
from benchmarks.answers.starts import starts
from benchmarks.quality.store import Record, Store

STARTS = "starts"
"""Stands for a set in the store: imports and commands."""


@dataclass(frozen=True)
class Job:
    """A part of a method on a set."""

    set_name: str
    method: str
    part: Part


def plan(sets: Iterable[str], methods: Iterable[str]) -> list[Job]:
    """List everything to measure; methods of a set and a part come one after the other."""
    chosen = list(methods)
    return [
        Job(name, method, part)
        for name in sets
        for part in PARTS
        for method in chosen
        if part.name != "widths" or method == WIDTHS_OF
    ]


def pending(store: Store, jobs: Iterable[Job], *, retry: bool) -> list[Job]:
    """Leave out what is measured; failures count as measured unless `retry`."""

    def done(job: Job) -> bool:
        record = store.read(job.set_name, job.method).get(job.part.number)
        return record is not None and not (retry and "error" in record)

    return [job for job in jobs if not done(job)]


def run(store: Store, jobs: list[Job], scale: float, timeout: float) -> None:
    """Do the jobs in order, and keep every result."""
    for number, job in enumerate(jobs, 1):
        place = f"{number} of {len(jobs)}: {job.set_name}, {job.method}, {job.part.name}"
        # Not kept: a later version may have it.
        asked = "elmband-exact" if job.part.name == "widths" else job.method
        absent = METHODS[asked].absent()
        if absent is not None:
            print(f"{place}: left out, {absent}", flush=True)
            continue
        record = _measured(store, job, scale, timeout)
        store.append(job.set_name, job.method, record)
        print(f"{place}: {record.get('error', 'done')}", flush=True)


def run_starts(store: Store, repeats: int) -> None:
    """Measure imports and commands, where that was not done."""
    if not store.read(STARTS, "all"):
        store.append(STARTS, "all", {"split": 0, "load": os.getloadavg()[0], **starts(repeats)})


def _measured(store: Store, job: Job, scale: float, timeout: float) -> Record:
    """Return the record of a job, whatever happens to its process."""
    command = [sys.executable, "-m", "benchmarks.answers.worker", job.method, job.set_name]
    failed = {"split": job.part.number}
    with store.log(job.set_name, job.method).open("ab") as errors:
        try:
            done = subprocess.run(
                [*command, job.part.name, str(scale)],
                stdout=subprocess.PIPE,
                stderr=errors,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **job.part.environment},
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return failed | {"error": f"it took longer than {timeout:g} s"}
    if not done.stdout.strip():
        return failed | {"error": f"its process ended with status {done.returncode}"}
    record: Record = json.loads(done.stdout.splitlines()[-1])
    return record
