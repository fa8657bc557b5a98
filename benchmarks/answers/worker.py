"""A process that measures one part: ``python -m benchmarks.answers.worker METHOD SET PART SCALE``.

It writes one line of JSON to standard output; whatever libraries print goes to standard error.
"""

import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from benchmarks.answers.data import SETS, Task
from benchmarks.answers.parts import (
    BATCHES,
    BY_NAME,
    CALLERS,
    CALLS,
    LEAST_CALLS,
    MOST_SECONDS,
    SIZES,
)
from benchmarks.answers.rivals import METHODS, Method
from benchmarks.answers.rivals.elm import EXACT
from benchmarks.answers.timing import latencies, same_from_threads, throughput
from benchmarks.answers.widths import compared

from elmband import ELMIntervalRegressor


def main(method: str, set_name: str, part: str, scale: float) -> None:
    """Measure, and report what came of it, also if that is an error."""
    record: dict[str, Any] = {"split": BY_NAME[part].number, "load": os.getloadavg()[0]}
    with redirect_stdout(sys.stderr):
        try:
            record |= _MEASURES[part](METHODS[method], SETS[set_name](), scale)
        except Exception as error:  # noqa: BLE001 - any failure of a rival is a result
            first = (str(error).strip().splitlines() or ["no message"])[0]
            record["error"] = f"{type(error).__name__}: {first[:300]}"
    print(json.dumps(record))


def _latency(method: Method, task: Task, scale: float) -> dict[str, Any]:
    model, seconds = _fitted(method, task, 1)
    rows, _ = task.new(10_000)
    found: dict[str, Any] = {"version": method.version(), "fit_seconds": seconds}
    for size in SIZES:
        begun = perf_counter()
        model.answer(rows[:size])
        model.answer(rows[:size])
        each = (perf_counter() - begun) / 2
        affordable = int(scale * MOST_SECONDS / each / max(CALLERS))
        calls = max(int(scale * LEAST_CALLS), min(int(scale * CALLS[size]), affordable), 2)
        for callers in CALLERS:
            key = f"{size} rows, {callers} callers"
            found[key] = latencies(model.answer, rows, size, callers, calls)
    found["same_from_threads"] = same_from_threads(model.answer, rows[:100], max(CALLERS))
    with TemporaryDirectory() as folder:
        found["bytes"] = model.save(Path(folder))
    return found


def _throughput(method: Method, task: Task, scale: float) -> dict[str, Any]:
    model, seconds = _fitted(method, task, None)
    found: dict[str, Any] = {"version": method.version(), "fit_seconds": seconds}
    for batch in BATCHES:
        rows, _ = task.new(max(int(scale * batch), 1000))
        taken = throughput(model.answer, rows, 3 if batch == BATCHES[0] else 1)
        found[f"{batch} rows"] = taken * batch / len(rows)
    return found


def _widths(method: Method, task: Task, scale: float) -> dict[str, Any]:
    """Compare both variances on one fit: only what answers is asked differs."""
    del scale
    model, _ = _fitted(method, task, None)
    exact = ELMIntervalRegressor(random_state=0, **EXACT).fit(task.X, task.y)
    answer = METHODS["elmband-exact"].model(None)
    answer.estimator = exact
    return {"version": method.version(), **compared(model.answer, answer.answer, task)}


def _fitted(method: Method, task: Task, threads: int | None) -> tuple[Any, float]:
    model = method.model(threads)
    begun = perf_counter()
    model.fit(task.X, task.y)
    return model, perf_counter() - begun


_MEASURES = {"latency": _latency, "throughput": _throughput, "widths": _widths}

if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4]))
