"""Probabilities from decisions, against refits, finite differences and a known truth."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from elmband.ground.arrays import namespace, to_numpy
from elmband.uncertainty.probability import Likelihood, Probability, both_classes


def shares(decisions, slope, shift):
    """Return the form as it is written, with nothing done about overflow."""
    h = np.log1p(np.exp(slope * decisions + shift))
    return h / h.sum(axis=1, keepdims=True)


def drawn(p, rng):
    """Draw a class of every row."""
    return (p.cumsum(axis=1) < rng.random((len(p), 1))).sum(axis=1)


def problem(n=60, k=4, scale=1.0, seed=0):
    """Return decisions, classes that they tell something of, and weights."""
    rng = np.random.default_rng(seed)
    decisions = rng.standard_normal((n, k))
    places = drawn(shares(decisions, 2.0, 0.5), rng)
    return scale * decisions, places, rng.uniform(0.2, 3, n)


@pytest.mark.parametrize("shift", [-300.0, -6.0, -0.5, 0.0, 3.0, 40.0])
@pytest.mark.parametrize("k", [2, 5])
def test_derivatives_are_those_of_the_loss(k, shift):
    likelihood = Likelihood(*problem(k=k))
    at, width = np.array([0.4, shift]), 1e-5
    gradient, hessian = likelihood.derivatives(at)
    steps = width * np.eye(2)
    slopes = [(likelihood.loss(at + e) - likelihood.loss(at - e)) / (2 * width) for e in steps]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-9)
    bends = [
        (likelihood.derivatives(at + e)[0] - likelihood.derivatives(at - e)[0]) / (2 * width)
        for e in steps
    ]
    np.testing.assert_allclose(hessian, bends, rtol=1e-6, atol=1e-9)


@pytest.mark.one_quick
@pytest.mark.parametrize("seed", range(8))
def test_no_other_numbers_are_more_likely(seed):
    """A search without derivatives, from several places, finds nothing better."""
    decisions, places, s = problem(k=2 + seed % 4, scale=10.0 ** (seed - 4), seed=seed)
    size = s @ np.abs(decisions).mean(axis=1) / s.sum()
    likelihood = Likelihood(decisions / size, places, s)
    found = Probability.fit(decisions, places, s)
    loss = likelihood.loss(np.array([np.log(found.slope * size), found.shift]))
    for start in [(0, 0), (2, 4), (0, -5), (3, -3)]:
        other = minimize(likelihood.loss, start, method="Nelder-Mead", options={"maxiter": 2000})
        assert loss <= other.fun + 1e-8


@pytest.mark.slow
@pytest.mark.parametrize("true", [(3.0, -8.0), (6.0, 5.0), (0.5, 0.0)], ids=str)
@pytest.mark.parametrize("k", [2, 4])
def test_a_known_truth_is_found_again(true, k):
    """With 30,000 rows probabilities are known to three standard errors or so, 0.02."""
    rng = np.random.default_rng(1)
    decisions = rng.uniform(-1.2, 1.2, (30_000, k))
    if k == 2:
        decisions = both_classes(decisions[:, 0])
    p = shares(decisions, *true)
    found = Probability.fit(decisions, drawn(p, rng), np.ones(len(p)))
    np.testing.assert_allclose(found(decisions), p, atol=0.02)


def test_a_weight_is_a_number_of_rows():
    decisions, places, _ = problem()
    s = np.random.default_rng(2).integers(0, 5, len(places))
    weighted = Probability.fit(decisions, places, s.astype(float))
    index = np.repeat(np.arange(len(s)), s)
    repeated = Probability.fit(decisions[index], places[index], np.ones(len(index)))
    np.testing.assert_allclose(weighted, repeated, rtol=1e-8)


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e4])
def test_the_size_of_decisions_does_not_matter(unit):
    decisions, places, s = problem()
    one, other = (Probability.fit(u * decisions, places, s) for u in (1.0, unit))
    np.testing.assert_allclose(other(unit * decisions), one(decisions), rtol=1e-8)


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=6),
    st.floats(1e-6, 1e6),
    st.floats(-1e3, 1e3),
    st.floats(1, 1e6),
)
def test_shares_add_up_and_follow_the_decisions(decisions, slope, shift, n):
    k = len(decisions)
    p = Probability(slope, shift, 1 / (k * (n + 1)))(np.array([decisions]))[0]
    assert p.sum() == pytest.approx(1, abs=1e-12)
    assert p.min() >= 1 / (k * (n + 1)) * (1 - 1e-9)
    # Decisions that differ in their last digits have the same probability but for rounding.
    assert p[np.argmax(decisions)] >= p.max() * (1 - 1e-12)
    assert (np.diff(p[np.argsort(decisions, kind="stable")]) >= -1e-12).all()


def test_classes_that_nothing_tells_apart_are_equally_probable():
    found = Probability.fit(np.zeros((50, 3)), np.arange(50) % 3, np.ones(50))
    np.testing.assert_allclose(found(np.zeros((2, 3))), 1 / 3)


@pytest.mark.parametrize("n", [4, 40, 4000])
def test_rows_that_are_all_right_do_not_make_certain(n):
    """So many rows without an error leave room for about one error in as many."""
    d = np.where(np.arange(n) % 2, 1.0, -1.0)
    found = Probability.fit(both_classes(d), (d > 0).astype(int), np.ones(n))
    wrong = found(both_classes(np.array([1.0, 5.0, 1e6])))[:, 0]
    assert wrong.min() >= 1 / (2 * (n + 1))
    assert wrong.max() <= 4 / n


def test_decisions_that_are_wrong_on_the_whole_become_uncertain():
    d = np.where(np.arange(1000) % 2, 1.0, -1.0)
    found = Probability.fit(both_classes(d), (d < 0).astype(int), np.ones(1000))
    p = found(both_classes(d))
    assert np.abs(p - 0.5).max() < 0.02
    assert (p.argmax(axis=1) == (d > 0)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_library_and_the_dtype_stay(xp, dtype):
    found = Probability.fit(*problem())
    decisions = np.linspace(-3, 3, 30).reshape(10, 3)
    p = found(xp.asarray(decisions, dtype=getattr(xp, dtype)))
    assert namespace(p) is namespace(xp.asarray(decisions))
    assert p.dtype == getattr(xp, dtype)
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(to_numpy(p), found(decisions), rtol=tolerance)


@pytest.mark.slow
def test_very_many_decisions_are_known_from_some():
    """Two million decisions of 100 classes; the truth is softmax with slope 4."""
    rng = np.random.default_rng(3)
    decisions = rng.uniform(-1, 1, (20_000, 100))
    p = np.exp(4 * decisions)
    p /= p.sum(axis=1, keepdims=True)
    found = Probability.fit(decisions, drawn(p, rng), np.ones(len(p)))
    assert found.slope == pytest.approx(4, rel=0.05)
    np.testing.assert_allclose(found(decisions), p, atol=0.01)
