"""Products of rows by their marks are those of whole matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elmband.layers.neurons import SQUARED_DISTANCES, Neurons
from elmband.sums.marks import MarkedRows
from elmband.sums.sample import hashes, row_keys
from elmband.sums.scaling import Scaling

N = 300


def one_hot(rng, n_levels, shares=None):
    return np.eye(n_levels)[rng.choice(n_levels, N, p=shares)]


def table(rng, *levels, numbers=5):
    return np.column_stack([rng.standard_normal((N, numbers)), *(one_hot(rng, k) for k in levels)])


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    levels=st.lists(st.integers(2, 60), min_size=1, max_size=4),
    strange=st.integers(0, 8),
    rare=st.integers(0, 6),
)
def test_products_are_those_of_matrices(seed, levels, strange, rare):
    rng = np.random.default_rng(seed)
    marks = (rng.random((N, rare)) < 0.05).astype(float)
    X = np.column_stack([table(rng, *levels), marks])
    # Levels that were never seen have the share of each mark in place of one.
    X[rng.integers(N, size=strange), 5 : 5 + levels[0]] = 1 / levels[0]
    Z = (X - rng.standard_normal(X.shape[1])) / rng.uniform(0.1, 3, X.shape[1])
    W = rng.standard_normal((7, X.shape[1])).T
    found = MarkedRows.of(Z)
    if found is None:
        # Too few of them, or too short, to be worth it.
        assert sum(levels) < 12 * (len(levels) + rare + 1)
        return
    np.testing.assert_allclose(found.times(W), Z @ W, rtol=0, atol=1e-11)


def test_marks_of_text_are_found_and_numbers_are_not():
    rng = np.random.default_rng(0)
    found = MarkedRows.of(table(rng, 40, 30))
    assert found.others.tolist() == [0, 1, 2, 3, 4]
    assert found.places.shape == (N, 2)
    assert len(found.strange) == 0
    assert MarkedRows.of(rng.standard_normal((N, 80))) is None
    assert MarkedRows.of(table(rng, 6)) is None


def test_zeros_among_numbers_are_no_marks():
    """Such as gains and losses of capital, which most people do not have."""
    rng = np.random.default_rng(1)
    X = table(rng, 40, 30)
    X[:, 0] *= rng.random(N) < 0.1
    found = MarkedRows.of(X)
    assert found.others.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(found.times(np.eye(75)), X, atol=1e-12)


def test_rows_of_many_marks_are_multiplied_as_they_are():
    rng = np.random.default_rng(2)
    X = table(rng, 40, 30)
    X[7, 5:] = 1
    found = MarkedRows.of(X)
    assert found.strange.tolist() == [7]
    np.testing.assert_allclose(found.times(np.eye(75)), X, atol=1e-12)


@pytest.mark.parametrize("nowhere", [-1e30, -1e6, -np.finfo(np.float32).max])
@pytest.mark.parametrize("known", [3, 60])
def test_what_most_rows_lack_changes_nothing_in_the_rows_that_have_it(nowhere, known):
    """As with the lowest number of float32, which stands for no data in maps."""
    rng = np.random.default_rng(3)
    X = table(rng, 40, 30)
    X[:, 0] = nowhere
    X[:known, 0] = 0.0
    found = MarkedRows.of(X)
    assert 0 in found.others
    W = rng.standard_normal((X.shape[1], 4))
    np.testing.assert_allclose(found.times(W)[:known], X[:known] @ W, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hashes_of_marked_rows_are_those_of_others(dtype):
    rng = np.random.default_rng(4)
    X = (1000 * table(rng, 40, 30)).astype(dtype)
    X[3, 5:45], X[4, :5] = 0.3, 1e15
    inputs = Scaling(X[:100].mean(axis=0), X[:100].std(axis=0) + 0.1)
    assert MarkedRows.of(X) is not None
    expected = row_keys(inputs(X).astype(float), 7)
    np.testing.assert_array_equal(hashes(X, inputs, 7), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("metric", [False, True])
@pytest.mark.parametrize("kind", ["tanh", "sigmoid", "relu", "linear", *SQUARED_DISTANCES])
def test_neurons_say_the_same_of_marked_rows(kind, metric, dtype):
    rng = np.random.default_rng(3)
    Z = table(rng, 40, 30).astype(dtype)
    S = rng.standard_normal((75, 75)).astype(dtype) / 9 if metric else None
    if metric and kind not in SQUARED_DISTANCES:
        return
    neurons = Neurons(
        kind, rng.standard_normal((75, 20)).astype(dtype) / 9, np.ones(20, dtype), metric=S
    )
    marks = MarkedRows.of(Z)
    assert marks is not None
    outs = np.empty((2, N, 20), dtype)
    neurons.write(Z, outs[0], marks)
    neurons.write(Z, outs[1], None)
    np.testing.assert_allclose(outs[0], outs[1], atol=200 * np.finfo(dtype).eps)
    assert outs.dtype == dtype
