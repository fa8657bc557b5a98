"""A process with one method and one set: ``python -m benchmarks.quality.worker SET METHOD 0,1``.

A process of its own measures memory, and a crash takes nothing else down. It writes one line of
JSON to standard output when it is ready and one for each split; whatever the libraries print goes
to standard error.
"""

import json
import os
import resource
import sys
import time
from typing import Any, TextIO

from benchmarks.quality.data import SETS, Split
from benchmarks.quality.rivals import METHODS
from benchmarks.quality.rivals.base import Predictor, UnsuitedError
from benchmarks.quality.scores import LEVELS, score

READY = {"ready": True}
"""First line of a worker that has its imports and its data: from here on the clock runs."""


def main(set_name: str, method_name: str, splits: list[int]) -> None:
    """Run the splits one after the other and report each as soon as it is finished."""
    report = _claim_stdout()
    method = METHODS[method_name]
    try:
        predict = method.load()
        split = SETS[set_name].load()
    except Exception as error:  # noqa: BLE001 - any failure of a rival is a result
        for k in splits:
            _emit(report, {"split": k, "error": sentence(error), "kind": "failed"})
        return
    baseline = _peak_mb()
    _emit(report, READY)
    for k in splits:
        record = {"split": k, "version": method.version()}
        _emit(report, record | _run(predict, split(k), k, baseline))


def _run(predict: Predictor, split: Split, seed: int, baseline: float) -> dict[str, Any]:
    """Fit, predict and score one split; an exception becomes a sentence.

    ``peak_mb`` is what the process needed since it started, beyond the imports and the data: the
    peak of the splits so far, since the system keeps only one.
    """
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        prediction = predict(split.X_train, split.y_train, split.X_test, LEVELS, seed)
        spent = {
            "seconds": time.perf_counter() - wall,
            "cpu_seconds": time.process_time() - cpu,
            "peak_mb": _peak_mb() - baseline,
        }
        return spent | score(split, prediction)
    except UnsuitedError as error:
        return {"error": sentence(error), "kind": "unsuited"}
    except Exception as error:  # noqa: BLE001 - any failure of a rival is a result
        return {"error": sentence(error), "kind": "failed"}


def sentence(error: Exception) -> str:
    """Return the kind and the first line of an error."""
    first = (str(error).strip().splitlines() or ["no message"])[0]
    return f"{type(error).__name__}: {first[:300]}"


def _peak_mb() -> float:
    """Return the largest resident size of this process so far; macOS counts bytes, Linux KB."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def _claim_stdout() -> TextIO:
    """Keep standard output for our lines and send everybody else's prints to standard error."""
    private = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(private, "w", buffering=1, encoding="utf-8")


def _emit(report: TextIO, record: dict[str, Any]) -> None:
    report.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], [int(k) for k in sys.argv[3].split(",")])
