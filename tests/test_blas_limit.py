"""BLAS has one thread while anybody asks for that, and as many as before once nobody does."""

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from elmband import ELMIntervalRegressor
from elmband.engines import engine
from elmband.engines.blas_limit import BlasLimit, one_blas_thread

WIDE = 3


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def wide():
    with threadpool_limits(WIDE, user_api="blas"):
        yield
        assert blas_threads() == {WIDE}


@pytest.mark.parametrize(
    "limit", [lambda: engine.limit_blas(10), engine.alone], ids=["limit_blas", "alone"]
)
def test_limits_that_overlap_in_two_threads_leave_nothing_behind(limit):
    both, first_gone = threading.Barrier(2, timeout=20), threading.Event()

    def first():
        with limit():
            both.wait()
        first_gone.set()

    def last():
        # The second to come is the last to leave.
        with limit():
            both.wait()
            assert first_gone.wait(20)
            assert blas_threads() == {1}

    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(first), pool.submit(last)]:
            future.result()


def test_generators_of_results_that_overlap_leave_nothing_behind(monkeypatch):
    monkeypatch.setattr(engine, "cpu_count", lambda: 2)
    one, other = (engine.in_threads(abs, range(9)) for _ in range(2))
    assert [next(one), next(other)] == [0, 0]
    one.close()
    assert blas_threads() == {1}
    assert list(other) == list(range(1, 9))


@pytest.mark.slow
def test_many_threads_with_limits_in_each_other_and_errors():
    def nested(k):
        with engine.limit_blas(10), one_blas_thread:
            assert blas_threads() == {1}
            with engine.alone():
                assert 1 // (k % 3) < 2

    with ThreadPoolExecutor(16) as pool:
        errors = [future.exception() for future in [pool.submit(nested, k) for k in range(200)]]
    assert [type(error) for error in errors[:3]] == [ZeroDivisionError, type(None), type(None)]
    assert sum(error is not None for error in errors) == 67


@pytest.mark.slow
def test_intervals_from_eight_threads(monkeypatch):
    monkeypatch.setattr(engine, "cpu_count", lambda: 2)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 3))
    model = ELMIntervalRegressor(n_neurons=20, random_state=0).fit(X[:300], X[:300, 0])
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(model.predict_interval, [X] * 16))
        wrong = [pool.submit(model.predict_interval, X[:, :2]) for _ in range(8)]
    assert all(isinstance(future.exception(), ValueError) for future in wrong)


def test_a_limit_that_cannot_be_set_is_not_counted(monkeypatch):
    limit = BlasLimit()
    monkeypatch.setattr("elmband.engines.blas_limit._libraries", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError), limit:
        pass
    monkeypatch.undo()
    with limit:
        assert blas_threads() == {1}


_FORKED = """
import multiprocessing
from elmband.engines.blas_limit import one_blas_thread
import numpy
from threadpoolctl import ThreadpoolController

def blas_threads():
    found = ThreadpoolController().select(user_api="blas").info()
    return sorted({library["num_threads"] for library in found})

def told(queue):
    before = blas_threads()
    with one_blas_thread:
        within = blas_threads()
    queue.put([before, within, blas_threads()])

context = multiprocessing.get_context("fork")
queue = context.SimpleQueue()
with one_blas_thread:
    process = context.Process(target=told, args=(queue,))
    process.start()
    process.join(60)
print(queue.get())
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="only some systems fork")
def test_a_forked_process_begins_without_the_limit_of_others():
    # In an interpreter of its own: other tests leave threads behind, and JAX objects to forks.
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", _FORKED],
        capture_output=True,
        text=True,
        env=environment,
        check=True,
    )
    assert done.stdout.strip() == "[[2], [1], [2]]"
