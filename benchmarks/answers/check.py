"""A quick test of the harness itself: ``python -m benchmarks.answers.check``.

What a method takes is known here: it sleeps. Widths that are known to be off are found so.
"""

import time
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock

import numpy as np
from benchmarks.answers.data import FAR, SETS, Floats
from benchmarks.answers.parts import PARTS
from benchmarks.answers.report import markdown
from benchmarks.answers.rivals import METHODS
from benchmarks.answers.runner import STARTS, pending, plan, run
from benchmarks.answers.starts import starts
from benchmarks.answers.timing import WARM_UP, latencies, same_from_threads, throughput
from benchmarks.answers.widths import compared
from benchmarks.quality.store import Store

ROWS = np.arange(4000.0).reshape(-1, 1)


def check_latencies_are_those_of_the_calls() -> None:
    """Find what the calls themselves have measured; one in fifty takes 30 ms, the others 3."""
    taken: list[float] = []

    def answer(rows: Floats) -> None:
        assert len(rows) == 10
        begun = time.perf_counter()
        time.sleep(0.03 if len(taken) % 50 == 0 else 0.003)
        taken.append(time.perf_counter() - begun)

    found = latencies(answer, ROWS, 10, 1, 200)
    own = 1e3 * np.array(taken[WARM_UP:])
    assert len(own) == 200
    assert abs(found["p50"] - np.median(own)) < 0.5, found
    assert abs(found["p99"] - np.quantile(own, 0.99)) < 3, found
    assert found["p99"] > 5 * found["p50"], found
    assert abs(found["per_second"] * own.sum() / 1e3 / 200 - 1) < 0.1, found


def check_callers_ask_at_once_and_locks_show() -> None:
    """Four callers are four times as fast where calls only wait, and no faster with a lock."""
    lock = Lock()

    def locked(_: Floats) -> None:
        with lock:
            time.sleep(0.003)

    alone = latencies(lambda _: time.sleep(0.003), ROWS, 1, 1, 50)["per_second"]
    four = latencies(lambda _: time.sleep(0.003), ROWS, 1, 4, 50)["per_second"]
    assert 3 < four / alone < 4.5, (alone, four)
    assert latencies(locked, ROWS, 1, 4, 50)["per_second"] < 1.2 * alone


def check_answers_that_depend_on_others_are_found() -> None:
    """One place that all threads write to is no answer of their own."""
    shared = np.zeros((2, 1000))

    def mixed(rows: Floats) -> tuple[Floats, Floats]:
        shared[:] = np.random.default_rng().random()
        return shared[0].copy(), rows

    assert same_from_threads(lambda rows: (rows, 2 * rows), ROWS, 4)
    assert not same_from_threads(mixed, ROWS, 4)


def check_throughput_is_that_of_all_rows() -> None:
    """Each row takes 10 µs."""
    found = throughput(lambda rows: time.sleep(1e-5 * len(rows)), ROWS, 2)
    assert 0.04 <= found < 0.08, found


def check_widths_that_are_off_are_found() -> None:
    """Half of the widths are 2 % too small on the data, all 10 % too large off it."""
    task = SETS["check"]()
    limit = 1.5

    def exact(X: Floats) -> tuple[Floats, Floats]:
        return X[:, 0], np.column_stack([-np.ones(len(X)), np.ones(len(X))])

    def fast(X: Floats) -> tuple[Floats, Floats]:
        factor = np.where(np.abs(X).max(axis=1) > limit, 1.1, np.where(X[:, 1] > 0, 0.98, 1))
        mean, bounds = exact(X)
        return mean, bounds * factor[:, None]

    found = compared(fast, exact, task)
    assert abs(found["on"]["p99"] - 0.02) < 1e-9
    assert abs(found["on"]["narrower"] - 0.02) < 1e-9
    assert 0.985 < found["on"]["mean_ratio"] < 0.995
    assert found["off"]["narrower"] < 0.021
    assert abs(found["off"]["p99"] - 0.1) < 1e-9
    assert np.ptp(task.far(1000), axis=0).min() > 0.9 * FAR * np.ptp(task.X, axis=0).max()


def check_starts_are_measured() -> None:
    """Nothing takes less time than Python itself."""
    found = starts(1)
    assert {"python", "import elmband", "elmband --version"} <= set(found)
    assert min(found, key=found.__getitem__) == "python"


def check_a_run_is_resumed_and_reported() -> None:
    """All methods that are here answer; a second run has nothing left to do."""
    methods = [name for name, one in METHODS.items() if _is_here(one.package)]
    with TemporaryDirectory() as folder:
        store, jobs = Store(Path(folder)), plan(["check"], methods)
        assert len(jobs) == 2 * len(methods) + 1
        run(store, pending(store, jobs, retry=False), 0.01, 300)
        left = pending(store, jobs, retry=False)
        assert all(METHODS[job.method].absent() or job.part == PARTS[2] for job in left), left
        store.append(STARTS, "all", {"split": 0, "load": 0.0, "python": 0.01})
        report = markdown(store.read_all())
    assert "## Failed" not in report, report
    assert all(f"| {name} |" in report for name in methods if not METHODS[name].absent())


def _is_here(package: str) -> bool:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        version(package)
    except PackageNotFoundError:
        return False
    return True


if __name__ == "__main__":
    for name, check in list(globals().items()):
        if name.startswith("check_"):
            check()
            print(f"{name[6:].replace('_', ' ')}: fine", flush=True)
