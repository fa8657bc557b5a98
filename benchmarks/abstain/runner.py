"""Run what is not finished yet: one worker process at a time, each with one method and one set."""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.abstain.data import RULES, BenchmarkSet
from benchmarks.abstain.rivals import METHODS, Method
from benchmarks.abstain.studies import newest, studies_of
from benchmarks.quality.store import Record, Store
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@dataclass(frozen=True)
class Job:
    """What one method, or one study, still has to do on a set."""

    set_name: str
    name: str
    splits: tuple[int, ...]


def plan(sets: list[BenchmarkSet], methods: list[Method], divisions: int) -> list[Job]:
    """List everything, sets in their order, the studies of a set after its methods.

    The number of a study of promises is how often photos are divided; others are number 0.
    """
    jobs = []
    for one in sets:
        for method in methods:
            if not one.methods or method.name in one.methods:
                count = one.n_splits if method.seeded or not one.seeds else 1
                jobs.append(Job(one.name, method.name, tuple(range(count))))
        for study in studies_of(one):
            number = divisions if study == "promises" else 0
            jobs.append(Job(one.name, study, (number,)))
    return jobs


def missing(store: Store, *, retry: bool) -> Callable[[Job], Job | None]:
    """Return the function that leaves of a job what is to be done, None where nothing is.

    Failures count as done unless `retry`. A comparison is done again after what it compares.
    """

    def left(job: Job) -> Job | None:
        records = store.read(job.set_name, job.name)
        since = newest(store, job.set_name, RULES) if job.name == "paired" else 0.0

        def done(k: int) -> bool:
            record = records.get(k)
            if record is None or (retry and "error" in record):
                return False
            return record.get("of", since) >= since

        splits = tuple(k for k in job.splits if not done(k))
        return Job(job.set_name, job.name, splits) if splits else None

    return left


def run(store: Store, jobs: list[Job], timeout: float, console: Console, *, retry: bool) -> None:
    """Do what is missing of the jobs in order, and show how far it is."""
    left = missing(store, retry=retry)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("", total=len(jobs))
        for job in jobs:
            todo = left(job)
            if todo is not None:
                progress.update(bar, description=f"{job.set_name} · {job.name}")
                _work(store, todo, timeout)
                line = _line(todo, store.read(job.set_name, job.name))
                console.print(line, highlight=False, markup=False, soft_wrap=True)
            progress.advance(bar)


def _work(store: Store, job: Job, timeout: float) -> None:
    """Start the worker, and note a failure for splits that it has left nothing of."""
    before = store.read(job.set_name, job.name)
    command = [sys.executable, "-m", "benchmarks.abstain.worker", str(store.out)]
    command += [job.set_name, job.name, ",".join(map(str, job.splits))]
    # Threads that wait for a busy core would spin, and make a fit of seconds last minutes.
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}
    log = store.log(job.set_name, job.name)
    with log.open("ab") as output:
        try:
            status = subprocess.run(
                command,
                stdout=output,
                stderr=output,
                stdin=subprocess.DEVNULL,
                timeout=timeout * len(job.splits),
                env=environment,
                check=False,
            ).returncode
            if status > 0:
                # Failures are reported by the worker itself: here the harness broke.
                raise RuntimeError(f"a worker could not do its work, its reasons are in {log}")
            reason = f"its process was ended by signal {-status}"
        except subprocess.TimeoutExpired:
            reason = f"it took longer than {timeout:g} s a split"
    after = store.read(job.set_name, job.name)
    for k in job.splits:
        if after.get(k) == before.get(k):
            store.append(job.set_name, job.name, {"split": k, "error": reason, "kind": "failed"})


def _line(job: Job, records: dict[int, Record]) -> str:
    """Tell in a line how a job went."""
    name = f"{job.set_name:12} {job.name:20}"
    found = [records[k] for k in job.splits]
    good = [record for record in found if "error" not in record]
    if not good:
        return f"{name} failed: {found[-1]['error']}"
    if job.name not in METHODS:
        return f"{name} done"
    fit, answer = (sum(r["seconds"][k] for r in good) / len(good) for k in ("fit", "answer"))
    area = sum(record["scores"]["aurc"] for record in good) / len(good)
    return (
        f"{name} {len(good)}/{len(found)} splits, AURC {area:.4f}, "
        f"fit {fit:6.2f} s, answer {answer:6.2f} s each"
    )
