import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from elmband import ELMIntervalRegressor
from elmband.engines import engine
from elmband.engines.blas_limit import one_blas_thread
from elmband.sums.moments import Chunk, Pieces, gram
from elmband.sums.rows import ArrayRows, chunk_slices

RNG = np.random.default_rng(0)
ROWS = ArrayRows(RNG.standard_normal((1000, 7)), RNG.standard_normal((1000, 2)), chunk_size=90)


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(engine, "cpu_count", lambda: 2)


@pytest.mark.parametrize("cores", [1, 2, 7])
def test_sums_are_the_same_to_the_bit_for_any_number_of_threads(monkeypatch, cores):
    expected = engine.reduced(map(gram, ROWS))
    monkeypatch.setattr(engine, "cpu_count", lambda: cores)
    actual = engine.total(ROWS, gram)
    for name in ("n", "HtH", "HtY", "YtY"):
        np.testing.assert_array_equal(getattr(actual, name), getattr(expected, name))


@pytest.mark.slow
def test_bounds_are_the_same_to_the_bit_for_any_number_of_threads(monkeypatch):
    # Threads of BLAS itself do change the last digits, as docs/limits.md says.
    rng = np.random.default_rng(1)
    X = rng.standard_normal((10_000, 4))
    y = X[:, 0] + (1 + abs(X[:, 1])) * rng.standard_normal(10_000)

    def bounds(cores):
        monkeypatch.setattr(engine, "cpu_count", lambda: cores)
        with one_blas_thread:
            model = ELMIntervalRegressor(30, random_state=0, verbose=False).fit(X, y)
            return model.predict_interval(X)

    one = bounds(1)
    for cores in (2, 5):
        np.testing.assert_array_equal(bounds(cores), one)


@pytest.mark.usefixtures("two_cores")
def test_pieces_stay_in_the_order_of_chunks_though_the_first_is_the_slowest():
    def chunk_map(chunk: Chunk) -> Pieces:
        if chunk.X[0, 0] == 0:
            time.sleep(0.05)
        return Pieces((chunk.X[:, 0],))

    X = np.arange(100.0)[:, None]
    joined = engine.total(ArrayRows(X, X, chunk_size=5), chunk_map).joined()
    np.testing.assert_array_equal(joined, X[:, 0])


@pytest.mark.usefixtures("two_cores")
def test_chunks_run_beside_each_other_with_one_blas_thread_each():
    together = threading.Barrier(2, timeout=20)

    def function(_: int) -> int:
        together.wait()
        return max(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas")

    before = [pool["num_threads"] for pool in threadpool_info()]
    assert list(engine.in_threads(function, range(4))) == [1] * 4
    assert [pool["num_threads"] for pool in threadpool_info()] == before


@pytest.mark.usefixtures("two_cores")
def test_an_error_in_a_chunk_comes_out_and_the_threads_end():
    before = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        list(engine.in_threads(lambda k: 1 // k, range(9)))
    with pytest.raises(ZeroDivisionError):
        engine.for_all(lambda k: 1 // k, range(4))
    assert threading.active_count() == before


@pytest.mark.usefixtures("two_cores")
def test_few_items_are_held_at_a_time():
    drawn = []

    def items():
        for k in range(50):
            drawn.append(k)
            yield k

    for done, _ in enumerate(engine.in_threads(lambda k: k, items())):
        assert len(drawn) <= done + 4


@pytest.mark.usefixtures("two_cores")
def test_threads_of_the_engine_start_none_of_their_own():
    def inner(_: int) -> set[int]:
        return set(engine.in_threads(lambda _: threading.get_ident(), range(3)))

    assert all(len(idents) == 1 for idents in engine.for_all(inner, range(4)))


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("count", [0, 1, 3, 4, 9])
def test_work_keeps_its_order(count):
    assert engine.for_all(lambda k: k**2, range(count)) == [k**2 for k in range(count)]


@pytest.mark.parametrize("n", [0, 1, 5, 90, 91, 1000])
@pytest.mark.parametrize("size", [1, 7, 90])
def test_slices_cover_all_rows_in_nearly_equal_parts(n, size):
    parts = list(chunk_slices(n, size))
    assert [k for part in parts for k in range(n)[part]] == list(range(n))
    lengths = [part.stop - part.start for part in parts]
    if lengths:
        assert 1 <= min(lengths) <= max(lengths) <= min(size, min(lengths) + 1)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="No affinity on this system.")
def test_no_more_threads_than_cores_that_may_be_used():
    """A container or a batch job often has some of the cores of a machine only."""
    code = (
        "import os, threading\n"
        "os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})\n"
        "from elmband.engines import engine\n"
        "print(len({*engine.in_threads(lambda _: threading.get_ident(), range(100))}))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "1"
