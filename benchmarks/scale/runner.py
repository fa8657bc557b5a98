"""Run what is not finished yet: one process after the other, each with one measurement.

What is compared takes turns: the speed of a machine drifts, and whoever is measured in a slow
minute has another turn. Files of growing size, of which the largest take minutes, run once a turn.
"""

import json
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.quality.store import Record, Store
from benchmarks.scale.cases import (
    CASES,
    DTYPES,
    GROWTH_CASES,
    GROWTH_DTYPE,
    GROWTH_ROWS,
    RIVALS,
    Case,
    flights_file,
)
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn


@dataclass(frozen=True)
class Job:
    """A case, at a number of rows, in a dtype: how many runs of it, after how many others."""

    case: Case
    rows: int
    dtype: str
    repeats: int
    before: int = 0


@dataclass(frozen=True)
class Settings:
    """How measurements run; without `hpelm_python` HP-ELM is left out."""

    timeout: float
    hpelm_python: Path | None

    def python(self, case: Case) -> str:
        """Return the interpreter that a case runs with."""
        return str(self.hpelm_python) if case.rival == "hp-elm" else sys.executable


def plan(rows: int, rivals: Iterable[str], growth: int, repeats: int, turns: int) -> list[Job]:
    """List everything to measure; growth goes up to that many rows, 0 is none."""
    left_out = set(RIVALS) - set(rivals)
    jobs = [
        Job(case, case.rows or rows, dtype, repeats, turn * repeats)
        for turn in range(turns)
        for dtype in DTYPES
        for case in CASES.values()
        if dtype in case.dtypes and case.rival not in left_out
    ]
    if flights_file() is None:
        jobs = [job for job in jobs if "flights" not in job.case.name]
    growing = [
        Job(CASES[name], size, GROWTH_DTYPE, 1, before)
        for before in range(repeats)
        for size in GROWTH_ROWS
        for name in GROWTH_CASES
        if size <= growth
    ]
    known = {(job.case.name, job.rows, job.dtype) for job in growing}
    return [job for job in jobs if (job.case.name, job.rows, job.dtype) not in known] + growing


def pending(store: Store, jobs: list[Job], *, retry: bool) -> list[Job]:
    """Leave out what is measured; failures count as measured unless `retry`, skips never do."""

    def done(job: Job) -> bool:
        record = store.read(job.dtype, job.case.name).get(job.rows)
        if record is None or record.get("kind") == "skipped":
            return False
        return record["repeats"] >= job.before + job.repeats and not (retry and "error" in record)

    return [job for job in jobs if not done(job)]


def run(store: Store, jobs: list[Job], settings: Settings, console: Console) -> None:
    """Do the jobs in order, keep every result, and show how far it is."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        bar = progress.add_task("", total=len(jobs))
        for job in jobs:
            progress.update(bar, description=f"{job.case.name} · {job.dtype} · {job.rows:,}")
            record = _measure(store, job, settings)
            if job.before:
                record = together(store.read(job.dtype, job.case.name).get(job.rows), record)
            store.append(job.dtype, job.case.name, record)
            progress.advance(bar)
            console.print(_line(job, record), highlight=False, markup=False, soft_wrap=True)


def together(former: Record | None, record: Record) -> Record:
    """Return both as one measurement: the best times, and the memory of the first."""
    if former is None or "error" in former or "error" in record:
        return record
    runs = {k: former["all_seconds"][k] + more for k, more in record["all_seconds"].items()}
    cpu = {k: min(former["cpu_seconds"][k], one) for k, one in record["cpu_seconds"].items()}
    return former | {
        "repeats": former["repeats"] + record["repeats"],
        "load_average": max(former["load_average"], record["load_average"]),
        "seconds": {k: min(times) for k, times in runs.items()},
        "all_seconds": runs,
        "cpu_seconds": cpu,
    }


def _measure(store: Store, job: Job, settings: Settings) -> Record:
    """Return the record of a job, whatever happens to its process."""
    command = [settings.python(job.case), "-m", "benchmarks.scale.worker"]
    command += [job.case.name, str(job.rows), job.dtype, str(job.repeats)]
    failed = {"split": job.rows, "repeats": job.before + job.repeats, "kind": "failed"}
    log = store.log(job.dtype, job.case.name)
    with log.open("ab") as errors:
        try:
            done = subprocess.run(
                [*command, str(store.out / "data")],
                stdout=subprocess.PIPE,
                stderr=errors,
                stdin=subprocess.DEVNULL,
                timeout=settings.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return failed | {"error": f"it took longer than {settings.timeout:g} s"}
    if not done.stdout.strip():
        reason = f"its process ended with status {done.returncode}, see {log.name}"
        return failed | {"error": reason}
    record: Record = json.loads(done.stdout)
    return record


def _line(job: Job, record: Record) -> str:
    """Tell in a line how a job went."""
    name = f"{job.case.name:26} {job.dtype} {job.rows:>9,} rows"
    if "error" in record:
        return f"{name} {record['kind']}: {record['error']}"
    times = ", ".join(f"{phase} {seconds:.3f} s" for phase, seconds in record["seconds"].items())
    return f"{name} {times}, peak {max(record['peak_mb'].values()):.0f} MB"
