"""Run what is not finished yet: one worker process at a time, each with one method and one set."""

import json
import select
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO

from benchmarks.quality.data import BenchmarkSet
from benchmarks.quality.rivals import Method
from benchmarks.quality.store import Record, Store
from benchmarks.quality.worker import READY
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

START_SECONDS = 300
"""Time for imports and reading data, which does not count for a split."""


@dataclass(frozen=True)
class Job:
    """The splits of one set that one method still has to do."""

    set_name: str
    method: str
    splits: tuple[int, ...]


def pending(
    store: Store, sets: list[BenchmarkSet], methods: list[Method], most: int | None, *, retry: bool
) -> list[Job]:
    """List the unfinished work, set by set; failures count as finished unless `retry`."""
    jobs = []
    for one in sets:
        wanted = range(one.n_splits if most is None else min(most, one.n_splits))
        for method in methods:
            records = store.read(one.name, method.name)
            done = {k for k, record in records.items() if not (retry and _failed(record))}
            splits = tuple(k for k in wanted if k not in done)
            if splits:
                jobs.append(Job(one.name, method.name, splits))
    return jobs


def run(store: Store, jobs: list[Job], timeout: float, console: Console) -> None:
    """Do the jobs in order, keep every finished split, and show how far it is."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("", total=sum(len(job.splits) for job in jobs))
        for job in jobs:
            progress.update(bar, description=f"{job.set_name} · {job.method}")
            records = []
            for record in _work(store, job, timeout):
                store.append(job.set_name, job.method, record)
                records.append(record)
                progress.advance(bar)
            console.print(_line(job, records), highlight=False, markup=False, soft_wrap=True)


def _work(store: Store, job: Job, timeout: float) -> Iterator[Record]:
    """Yield a record for each split of the job, whatever happens to the worker."""
    command = [sys.executable, "-m", "benchmarks.quality.worker", job.set_name, job.method]
    left = list(job.splits)
    log_path = store.log(job.set_name, job.method)
    with log_path.open("ab") as log:
        worker = subprocess.Popen(
            [*command, ",".join(map(str, left))],
            stdout=subprocess.PIPE,
            stderr=log,
            stdin=subprocess.DEVNULL,
            bufsize=0,
        )
        try:
            reason = "the worker ended without a word"
            assert worker.stdout is not None
            limit, heard = max(timeout, START_SECONDS), False
            while left:
                line = _next_line(worker.stdout, limit)
                if line is None:
                    reason = f"split {left[0]} took longer than {limit:g} s"
                if not line:
                    break
                record = json.loads(line)
                limit, heard = timeout, True
                if record != READY:
                    left.remove(record["split"])
                    yield record
        finally:
            worker.kill()
            status = worker.wait()
    if status > 0 and not heard:
        # Adaptors that fail to load are reported by the worker: here elmband or the harness broke.
        raise RuntimeError(f"a worker could not start, its reasons are in {log_path}")
    if left and "ended" in reason:
        reason = f"{reason}, exit status {status}, see {log_path.name}"
    # A method too slow or too large for one split is so for its siblings: they are not tried.
    yield from ({"split": k, "error": reason, "kind": "failed"} for k in left)


def _next_line(pipe: IO[bytes], timeout: float) -> bytes | None:
    """Return the next line, b"" at the end, or None when nothing came in time."""
    ready, _, _ = select.select([pipe], [], [], timeout)
    return pipe.readline() if ready else None


def _failed(record: Record) -> bool:
    return record.get("kind") == "failed"


def _line(job: Job, records: list[Record]) -> str:
    """Tell in a line how a job went."""
    name = f"{job.set_name:18} {job.method:22}"
    good = [record for record in records if "error" not in record]
    if not good:
        return f"{name} {records[-1]['kind']}: {records[-1]['error']}"

    def mean(key: str) -> float:
        return sum(record[key] for record in good) / len(good)

    if "score90" in good[0]:
        found = (
            f"coverage {100 * mean('picp90'):5.1f} %, score {mean('score90') / mean('y_sd'):7.3f}"
        )
    else:
        found = f"points only, RMSE {mean('rmse') / mean('y_sd'):7.3f}"
    return f"{name} {len(good)}/{len(records)} splits, {found} sd, {mean('seconds'):7.2f} s each"
