"""Hidden outputs on a GPU are computed once, and memory that runs short is made do with."""

import numpy as np
import pytest
from sklearn import config_context

from elmband import ELMIntervalRegressor
from elmband.datasets import make_heteroscedastic
from elmband.engines import engine
from elmband.sources.hidden_cache import keeping, once
from elmband.sums import products
from elmband.sums.moments import Chunk, Count, Pieces
from elmband.sums.rows import ArrayRows

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.torch

DATA = make_heteroscedastic(3000, random_state=0)


class OutOfMemoryError(RuntimeError):
    """What devices raise, by its name."""


def counting(most):
    """Return a map of chunks that fails above so many rows, and the lengths it was asked for."""
    asked = []

    def chunk_map(chunk):
        asked.append(len(chunk.X))
        if asked[-1] > most:
            raise OutOfMemoryError
        return Pieces((chunk.X * 2,))

    return chunk_map, asked


@pytest.mark.slow
def test_too_much_at_once_is_halved_and_remembered():
    chunk_map, asked = counting(1000)
    X = torch.arange(8000.0)[:, None]
    rows = ArrayRows(X, X, None, 4000)
    found = engine.total(rows, chunk_map).joined()
    torch.testing.assert_close(found, X * 2)
    # A multiple of four chunks.
    assert asked == [2000, 1000] + [1000] * 7


def test_other_errors_and_hopeless_lacks_are_not_swallowed():
    X = torch.zeros((600, 1))
    chunk_map, asked = counting(0)
    with pytest.raises(OutOfMemoryError):
        engine.total(ArrayRows(X, X, None, 600), chunk_map)
    assert min(asked) == 300

    def broken(_chunk):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        engine.total(ArrayRows(X, X, None, 600), broken)


@pytest.mark.slow
def test_predictions_are_halved_as_well():
    seen = []

    def neuron(T):
        seen.append(len(T))
        if len(T) > 1024:
            raise OutOfMemoryError
        return T.tanh()

    X, y = torch.as_tensor(DATA.X), torch.as_tensor(DATA.y)

    with config_context(array_api_dispatch=True):
        options = {"alpha": 1.0, "noise": "squared", "random_state": 0}
        small = ELMIntervalRegressor({neuron: 20}, chunk_size=500, **options).fit(X, y)
        large = ELMIntervalRegressor({neuron: 20}, chunk_size=3000, **options).fit(X, y)
        for method in ("predict", "predict_interval"):
            expected, found = (getattr(m, method)(X) for m in (small, large))
            torch.testing.assert_close(found, expected, rtol=1e-8, atol=1e-10)
    assert max(seen) == 3000


def test_without_a_gpu_nothing_is_kept():
    rows = ArrayRows(torch.zeros((4, 1)), torch.zeros((4, 1)))
    calls = []
    with keeping(rows):
        for _ in range(2):
            once(rows.X, rows, calls.append)
    assert len(calls) == 2


@pytest.mark.cuda
def test_parts_of_resident_rows_are_mapped_once():
    X = torch.randn((4000, 3), device="cuda")
    rows, owner, calls = ArrayRows(X, X, None, 1000), object(), []

    def function(part):
        calls.append(part)
        return part * 2

    with keeping(rows):
        for _ in range(3):
            for chunk in rows:
                torch.testing.assert_close(once(chunk.X, owner, function), chunk.X * 2)
        assert len(calls) == 4
        once(X[:1000], object(), function)
        once(X[:1000].clone(), owner, function)
        once(X[500:1500], owner, function)
        assert len(calls) == 7


@pytest.mark.cuda
def test_a_fit_makes_do_with_little_memory():
    draw = torch.Generator("cuda").manual_seed(0)
    X, noise = (torch.randn(s, device="cuda", generator=draw) for s in ((400_000, 20), 400_000))
    # Without noise, widths would be rounding.
    y = torch.sin(X[:, 0]) + noise / 10

    options = {"alpha": 1.0, "noise": "squared", "random_state": 0}
    with config_context(array_api_dispatch=True):
        expected = ELMIntervalRegressor(500, **options).fit(X, y)
        torch.cuda.empty_cache()
        _, whole = torch.cuda.mem_get_info()
        torch.cuda.set_per_process_memory_fraction(0.6e9 / whole)
        try:
            found = ELMIntervalRegressor(500, **options).fit(X, y)
            intervals = found.predict_interval(X[:1000])
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0)
        # Where hardly any noise is predicted float32 sums matter: 1e-3 against float64, either way.
        torch.testing.assert_close(
            intervals, expected.predict_interval(X[:1000]), rtol=1e-3, atol=3e-3
        )


@pytest.mark.cuda
@pytest.mark.parametrize("setting", ["highest", "high"])
def test_products_do_not_follow_the_setting_of_the_process(setting):
    A = torch.randn((3000, 64), device="cuda")
    exact = A.double().T @ A.double()

    def error():
        return float((products.squares(A) - exact).abs().max() / exact.abs().max())

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(setting)
    try:
        with products.precisely("auto"):
            assert error() < 1e-6
        with products.precisely("high"):
            assert error() < 1e-14
        with products.precisely("fast"):
            assert 1e-6 < error() < 1e-3
        assert torch.get_float32_matmul_precision() == setting
    finally:
        torch.set_float32_matmul_precision(before)


def test_on_a_processor_fast_is_float32_and_high_has_better_sums():
    X = DATA.X.astype(np.float32)
    models = {
        p: ELMIntervalRegressor(30, alpha=1.0, noise="squared", precision=p, random_state=0).fit(
            X, DATA.y
        )
        for p in ("float32", "fast", "high", "float64")
    }
    exact = models["float64"].covariance_
    errors = {p: np.abs(m.covariance_ - exact).max() / exact.max() for p, m in models.items()}
    assert errors["fast"] == errors["float32"]
    assert 0 < errors["high"] < errors["float32"]
    for precision in ("fast", "high"):
        assert models[precision].predict(X).dtype == np.float32
        assert models[precision].predict_interval(X).dtype == np.float32


def test_counts_add_up_when_halved():
    careful = engine.halving(lambda chunk: Count(chunk.n), engine.plus)
    assert careful(Chunk(torch.zeros((10, 1)), torch.zeros((10, 1)), None)).n == 10
