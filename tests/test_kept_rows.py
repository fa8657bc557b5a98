"""Hidden outputs of rows in memory are computed once, as far as working memory goes."""

import threading
import tracemalloc

import numpy as np
import pytest
from sklearn import config_context

from elmband import ELMIntervalRegressor, ELMRegressor
from elmband.datasets import make_heteroscedastic
from elmband.engines import engine
from elmband.sources.hidden_cache import keeping, written_once
from elmband.sums.rows import ArrayRows

N = 12_000
DATA = make_heteroscedastic(N, random_state=0)
OPTIONS = {"alpha": 1e-3, "noise": "squared", "calibration": "gaussian", "random_state": 0}


# Rows that tell what a layer depends on: a thousand, twice, as the neuron's slope is not known.
LOOKED_AT = 2000


def fitted(X, working_memory, **options):
    """Return a model, and how many rows its neurons have seen."""
    seen, lock = [], threading.Lock()

    def neuron(T):
        with lock:
            seen.append(len(T))
        return np.tanh(T)

    with config_context(working_memory=working_memory):
        model = ELMIntervalRegressor({neuron: 20}, **{**OPTIONS, **options}).fit(X, DATA.y)
    return model, sum(seen)


def same(one, other):
    for name in ("coef_", "noise_coef_", "covariance_", "noise_covariance_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def test_rows_pass_the_neurons_once_and_nothing_changes():
    never, thrice = fitted(DATA.X, 0)
    kept, once = fitted(DATA.X, 1024)
    assert thrice - once == 2 * N
    assert once <= N + LOOKED_AT
    same(never, kept)


def test_as_many_rows_are_kept_as_fit():
    never, _ = fitted(DATA.X, 0)
    # 20 neurons of 8 bytes each.
    half, seen = fitted(DATA.X, N / 2 * 20 * 8 / 2**20)
    assert 1.5 * N < seen < 2.5 * N
    same(never, half)


def test_strengths_that_are_chosen_take_no_more_of_them():
    never, more = fitted(DATA.X, 0, alpha="loo")
    kept, once = fitted(DATA.X, 1024, alpha="loo")
    assert more > 3 * N
    assert once <= N + LOOKED_AT
    same(never, kept)


@pytest.mark.one_quick
@pytest.mark.parametrize(
    "X",
    [
        np.asfortranarray(np.hstack([DATA.X, DATA.X**2])),
        np.hstack([DATA.X, DATA.X**2])[:, ::-1],
        np.hstack([DATA.X, DATA.X**2])[::-1],
        np.repeat(DATA.X, 2, axis=0)[::2],
        DATA.X.astype(np.float32),
    ],
    ids=["fortran", "columns reversed", "rows reversed", "every other row", "float32"],
)
def test_however_rows_lie_in_memory(X):
    same(fitted(X, 0)[0], fitted(X, 1024)[0])


def peak(model, working_memory):
    """Return the bytes that a fit held at most; all hidden outputs are 32 MB."""
    X = np.random.default_rng(0).standard_normal((40_000, 4))
    with config_context(working_memory=working_memory):
        tracemalloc.start()
        model.fit(X, X[:, 0])
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


@pytest.fixture
def two_cores(monkeypatch):
    """Every thread has a chunk of its own: with many cores these are more than what is kept."""
    monkeypatch.setattr(engine, "cpu_count", lambda: 2)


@pytest.mark.usefixtures("two_cores")
@pytest.mark.one_quick
@pytest.mark.parametrize("alpha", [1.0, "gcv"])
def test_nothing_is_kept_for_a_single_pass(alpha):
    model = ELMRegressor(100, alpha=alpha, random_state=0)
    assert abs(peak(model, 1024) - peak(model, 0)) < 4e6


@pytest.mark.slow
@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize(
    "model",
    [
        ELMRegressor(100, alpha="loo", random_state=0),
        ELMRegressor(100, alpha=1.0, selection="op-elm", random_state=0),
        ELMIntervalRegressor(100, mode="fast", **OPTIONS),
    ],
    ids=["leave-one-out", "selection", "fast"],
)
def test_a_second_pass_is_worth_the_memory(model):
    assert peak(model, 1024) - peak(model, 0) > 16e6


@pytest.mark.usefixtures("two_cores")
@pytest.mark.slow
def test_two_passes_keep_all_or_nothing():
    exact, fast = (ELMIntervalRegressor(100, mode=mode, **OPTIONS) for mode in ("exact", "fast"))
    assert peak(exact, 16) - peak(exact, 0) > 8e6
    assert abs(peak(fast, 16) - peak(fast, 0)) < 4e6


def test_only_rows_of_the_array_are_kept_and_none_can_be_spoilt():
    X = np.arange(40.0).reshape(20, 2)
    owner, calls = object(), []

    def write(out):
        calls.append(len(out))
        out[...] = 7.0
        return out

    with keeping(ArrayRows(X, X)):
        for part in (X[:10], X[:10], X[5:10], X.copy()[:10], X[:10, :1], X[::2]):
            written_once(part, owner, 3, np.float64, write)
        H = written_once(X[:10], owner, 3, np.float64, write)
        with pytest.raises(ValueError, match="read-only"):
            H += 1
    assert calls == [10, 5]
    assert written_once(X[:10], owner, 3, np.float64, write) is None
