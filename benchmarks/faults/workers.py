"""Dask workers that are killed while they fit: the model is the one without."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

import numpy as np
from benchmarks.faults.cases import Case
from benchmarks.faults.injection import Injection, Plan
from benchmarks.faults.trial import Judged, Trials

_FIT = (
    "fit",
    "parts",
    "--target",
    "2",
    "--neurons",
    "20",
    "--published",
    "-o",
    "model.safetensors",
)
_WORKERS, _PARTS = 2, 8
_EQUAL = 1e-9
"""Largest difference of bounds: sums of parts may come in another order."""


def kills(trials: Trials, plan: Plan) -> Iterator[Injection]:
    """Kill workers of a cluster on this machine, at random moments of fits."""
    cluster = _Cluster(trials)
    try:
        for number in plan.numbers():
            rng = plan.rng("workers", "fit", number)
            yield Injection("killed worker", "fit", number, partial(cluster.fit, rng))
    finally:
        cluster.close()


class _Cluster:
    """A scheduler and workers whose nannies start new ones, and what a fit on them gives."""

    def __init__(self, trials: Trials) -> None:
        self._trials = trials
        self._cluster: Any = None
        self._right: Any = None
        self._seconds = 0.0

    def fit(self, rng: np.random.Generator) -> Judged:
        """Fit, and kill a worker or two meanwhile."""
        self._start()
        moments = sorted(rng.uniform(0, self._seconds, int(rng.integers(1, 3))).tolist())
        with self._killing(moments):
            ended = self._run()
        if ended.status is None:
            return Judged("hung", f"after {ended.seconds:.0f} s")
        if ended.has_traceback or ended.status < 0:
            return Judged("crashed", ended.complained[-300:])
        if ended.status:
            refused = Judged("refused", ended.complained[:200])
            return refused if ended.is_one_sentence else Judged("wrong", ended.complained[:300])
        far = float(np.max(np.abs(self._bounds() - self._right)))
        return Judged("right") if far <= _EQUAL else Judged("wrong", f"bounds differ by {far:g}")

    def _start(self) -> None:
        if self._cluster is not None:
            return
        from distributed import LocalCluster  # noqa: PLC0415

        self._cluster = LocalCluster(
            n_workers=_WORKERS,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=50,
        )
        folder = self._trials.folder
        self._trials.prepare(Case("workers", (), (), ()))
        (folder / "parts").mkdir()
        rows = np.load(self._trials.material / "long.npy")
        for k, part in enumerate(np.array_split(rows, _PARTS)):
            np.save(folder / "parts" / f"{k}.npy", part)
        for _ in range(2):  # workers import their libraries in the first
            ended = self._run()
        if ended.status != 0:
            raise RuntimeError(f"a fit on workers does not run at all: {ended.complained}")
        self._right, self._seconds = self._bounds(), ended.seconds

    def _run(self) -> Any:
        address = self._cluster.scheduler_address
        return self._trials.server.run((*_FIT, "--scheduler", address), self._trials.folder)

    def _bounds(self) -> Any:
        from elmband import load  # noqa: PLC0415

        path = self._trials.folder / "model.safetensors"
        rows = np.load(self._trials.folder / "parts" / "0.npy")
        found = load(path).predict_interval(rows[:, :2])
        path.unlink()
        return found

    @contextmanager
    def _killing(self, moments: list[float]) -> Iterator[None]:
        """Kill a worker at each of the moments, unless the fit is done before."""
        done = threading.Event()
        thread = threading.Thread(target=self._kill, args=(moments, done))
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()

    def _kill(self, moments: list[float], done: threading.Event) -> None:
        begun = time.perf_counter()
        for k, moment in enumerate(moments):
            if done.wait(max(0.0, moment - (time.perf_counter() - begun))):
                return
            processes = [nanny.pid for nanny in self._cluster.workers.values() if nanny.pid]
            with suppress(ProcessLookupError, IndexError):
                os.kill(processes[k % len(processes)], signal.SIGKILL)

    def close(self) -> None:
        """End the cluster."""
        if self._cluster is not None:
            self._cluster.close()
