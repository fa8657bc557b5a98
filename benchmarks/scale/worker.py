"""A process that measures one case: ``python -m benchmarks.scale.worker CASE ROWS DTYPE ...``.

A process of its own measures memory, and a crash takes nothing else down. It warms up on a few
rows, which loads libraries and starts threads, then runs as often as it is told and writes one line
of JSON to standard output; whatever the libraries print goes to standard error. HP-ELM is measured
with another Python, so this file and those it needs import nothing beyond NumPy.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks.scale.cases import CASES, HEAD_ROWS, Case, flights_file
from benchmarks.scale.data import File, Rows, ensure, load
from benchmarks.scale.watch import SkippedError, Watch, resident_mb


def main(name: str, rows: int, dtype: str, repeats: int, folder: Path) -> None:
    """Measure, and report what came of it, also if that is an error."""
    private = os.dup(1)
    os.dup2(2, 1)
    record: dict[str, Any] = {"split": rows, "repeats": repeats}
    try:
        record |= measure(CASES[name], rows, dtype, repeats, folder)
    except SkippedError as reason:
        record |= {"error": str(reason), "kind": "skipped"}
    except Exception as error:  # noqa: BLE001 - any failure of a rival is a result
        record |= {"error": sentence(error), "kind": "failed"}
    with os.fdopen(private, "w", encoding="utf-8") as report:
        report.write(json.dumps(record) + "\n")


def measure(case: Case, rows: int, dtype: str, repeats: int, folder: Path) -> dict[str, Any]:
    """Return the best time of every phase over the repeats.

    Memory is that of the first run: later ones would add what the one before left behind.
    """
    task = case.load()
    task(source(case, HEAD_ROWS, dtype, folder), Watch(), **case.options)
    rows_given = source(case, rows, dtype, folder)
    baseline = resident_mb()
    watches, scores = [], {}
    for _ in range(repeats):
        watch = Watch()
        scores = task(rows_given, watch, **case.options)
        watches.append(watch)
    first = watches[0]
    return {
        "version": case.version(),
        "load_average": os.getloadavg()[0],
        "seconds": {k: min(watch.seconds[k] for watch in watches) for k in first.seconds},
        "all_seconds": {k: [watch.seconds[k] for watch in watches] for k in first.seconds},
        "cpu_seconds": {k: min(watch.cpu_seconds[k] for watch in watches) for k in first.seconds},
        "baseline_mb": baseline,
        "peak_mb": first.peak_mb,
        "scores": scores,
    }


def source(case: Case, rows: int, dtype: str, folder: Path) -> Rows | File | str:
    """Return what a case reads: arrays, a file to stream from, or only the dtype."""
    if case.reads_nothing:
        return dtype
    if case.file is None:
        # One file for both: float64 arrays hold the same numbers.
        return load(ensure(folder / f"rows-{rows}-float32.npy"), dtype)
    if case.file == "flights.parquet":
        path = flights_file()
        assert path is not None
    else:
        path = ensure(folder / case.file.format(rows=rows, dtype=dtype))
    return File(path, dict(case.scan))


def sentence(error: Exception) -> str:
    """Return the kind and the first line of an error."""
    first = (str(error).strip().splitlines() or ["no message"])[0]
    return f"{type(error).__name__}: {first[:300]}"


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), Path(sys.argv[5]))
