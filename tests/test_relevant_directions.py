"""Relevance of inputs and gradients, against differences and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.ground.arrays import to_numpy
from elmband.layers.gradients import member_gradients, neuron_gradients, relevance_of
from elmband.layers.hidden import FeatureMap, HiddenLayer
from elmband.layers.member import Member
from elmband.layers.neurons import Neurons
from elmband.layers.relevance import GradientSums, Relevance
from elmband.layers.views import RankScores, SoftClip
from elmband.sums.scaling import Scaling

RNG = np.random.default_rng(0)
D, L = 4, 6
Z = RNG.standard_normal((30, D))
STEP = 1e-6


def block(kind, seen=None, seed=1):
    rng = np.random.default_rng(seed)
    metric = None if seen is None else rng.standard_normal((D, seen))
    weights = rng.standard_normal((D if seen is None else seen, L))
    return Neurons(kind, weights, rng.uniform(0.5, 2, size=L), metric=metric)


def differences(function, Z):
    """Return central differences of a function of rows (n, d)."""
    steps = STEP * np.eye(Z.shape[1])
    columns = [(function(Z + step) - function(Z - step)) / (2 * STEP) for step in steps]
    return np.stack(columns, axis=1)


CASES = [
    *((kind, None) for kind in ("linear", "tanh", "sigmoid", "relu")),
    *((kind, seen) for kind in ("rbf_l2", "laplace") for seen in (None, D, 2)),
]


@pytest.mark.one_on_jax
@pytest.mark.parametrize(("kind", "seen"), CASES)
def test_gradients_of_every_kind_are_those_of_differences(kind, seen, xp):
    neurons, coef = block(kind, seen), np.linspace(-1, 2, L)
    expected = differences(lambda rows: neurons(rows) @ coef, Z)
    rows = xp.asarray(Z)
    found = neuron_gradients(neurons.to(rows, xp.float64), rows, xp.asarray(coef))
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-6, atol=1e-7)


def test_inputs_that_are_passed_on_have_their_weights_for_a_gradient():
    passed = Neurons("linear", np.eye(D), np.zeros(D), passes=True)
    coef = np.arange(1.0, D + 1)
    np.testing.assert_array_equal(neuron_gradients(passed, Z, coef), np.tile(coef, (30, 1)))


def test_a_tip_has_a_finite_gradient():
    neurons = block("laplace")
    found = neuron_gradients(neurons, neurons.weights.T.copy(), np.ones(L))
    assert np.isfinite(found).all()
    far = neuron_gradients(neurons, np.full((1, D), 1e6), np.ones(L))
    np.testing.assert_array_equal(far, 0)


def member(view=None, outputs=1, seed=1):
    blocks = (
        Neurons("linear", np.eye(D), np.zeros(D), passes=True),
        block("tanh", seed=seed),
        block("laplace", 2, seed=seed),
    )
    size = D + 2 * L
    features = FeatureMap(Scaling(np.arange(4.0), np.full(4, 2.0)), HiddenLayer(blocks), view)
    coef = np.random.default_rng(seed).standard_normal((size, outputs))
    return Member(features, np.zeros(size), np.zeros(outputs), coef, np.ones(outputs))


@pytest.mark.parametrize("kind", [None, SoftClip, RankScores])
def test_gradients_of_a_member_are_those_in_the_columns_of_its_view(kind):
    X = 2 * Z**3 + np.arange(4.0)
    view = None if kind is None else kind.of(Z**3, np.ones(30))
    one = member(view, outputs=2)
    seen = Z**3 if view is None else view(Z**3)
    np.testing.assert_allclose(one.features.viewed(X), seen, rtol=1e-10, atol=1e-12)
    for j in range(2):
        expected = differences(lambda V, j=j: one.features.hidden(V) @ one.coef[:, j], seen)
        found = member_gradients(one, X, j)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_relevance_is_the_mean_of_products_of_gradients_over_rows_and_outputs():
    members, s = [member(outputs=2), member(outputs=2, seed=2)], RNG.uniform(0.5, 2, size=30)
    weights = np.array([[0.3, 0.0], [0.9, 0.4]])
    M = np.zeros((D, D))
    for j in range(2):
        total = sum(w[j] * member_gradients(m, Z, j) for m, w in zip(members, weights, strict=True))
        for gradient, weight in zip(total, s, strict=True):
            M += weight * np.outer(gradient, gradient)
    found = relevance_of(members, weights, Z, s)
    np.testing.assert_allclose(found.matrix, M / np.trace(M), rtol=1e-10)
    assert relevance_of(members, 0 * weights, Z, s) is None


def test_outputs_do_not_make_rows_more():
    """Whether rows can tell directions depends on how many rows there are."""
    one, five = (member(outputs=m) for m in (1, 5))
    few, s = Z[:12], np.ones(12)
    assert not relevance_of([one], np.ones((1, 1)), few, s).directed
    assert not relevance_of([five], np.ones((1, 5)), few, s).directed


def test_sums_of_parts_are_the_sum_of_the_whole():
    G, s = RNG.standard_normal((30, D)), RNG.uniform(size=30)
    whole = GradientSums.of(G, s)
    parts = GradientSums.of(G[:11], s[:11]) + GradientSums.of(G[11:], s[11:])
    np.testing.assert_allclose(parts.products, whole.products)
    np.testing.assert_allclose(whole.products, G.T @ (s[:, None] * G))
    assert parts.n == pytest.approx(s.sum())


def relevance(d=D, rank=None, n=1000.0, seed=0):
    G = np.random.default_rng(seed).standard_normal((rank or 2 * d, d))
    return Relevance.of(GradientSums(n, G.T @ G))


@given(st.integers(1, 8), st.integers(0, 100))
def test_a_root_makes_the_matrix_and_no_direction_is_lost(d, seed):
    found = relevance(d, rank=1 + seed % 3, seed=seed)
    assert np.trace(found.matrix) == pytest.approx(1)
    S = found.root("full")
    # Every direction keeps a hundred-thousandth of the mean.
    expected = (found.matrix + 1e-5 / d * np.eye(d)) / (1 + 1e-5)
    np.testing.assert_allclose(S @ S.T, expected, atol=1e-12)
    assert np.trace(S @ S.T) == pytest.approx(1)
    assert np.linalg.eigvalsh(S @ S.T)[0] > 0.9e-5 / d


def test_softened_relevance_is_the_root_of_the_matrix():
    found = relevance()
    soft = found.softened()
    assert np.trace(soft.matrix) == pytest.approx(1)
    square = soft.matrix @ soft.matrix
    np.testing.assert_allclose(square / np.trace(square), found.matrix, atol=1e-12)
    few = relevance(n=4.0)
    np.testing.assert_allclose(
        few.softened().shares ** 2, few.shares / np.sqrt(few.shares).sum() ** 2
    )
    assert not few.softened().directed


def test_a_diagonal_root_has_the_shares():
    found = relevance()
    S = found.root("diagonal")
    expected = (found.shares + 1e-5 / D) / (1 + 1e-5)
    np.testing.assert_allclose(S, np.diag(np.sqrt(expected)))
    np.testing.assert_array_equal(np.diagonal(S), found.deviations)


def test_the_signs_of_a_root_do_not_depend_on_rounding():
    """An eigenvector has no sign of its own, but neurons drawn from it would have."""
    found = relevance()
    noise = 1e-13 * RNG.standard_normal((D, D))
    other = Relevance(found.matrix + noise + noise.T)
    np.testing.assert_allclose(found.root("full"), other.root("full"), atol=1e-9)
    S = found.root("full")
    largest = np.take_along_axis(S, np.abs(S).argmax(axis=0)[None], axis=0)
    assert (largest > 0).all()


def test_the_order_of_inputs_does_not_matter():
    found, order = relevance(), np.array([2, 0, 3, 1])
    moved = Relevance(found.matrix[np.ix_(order, order)])
    np.testing.assert_allclose(moved.root("full"), found.root("full")[order], atol=1e-10)


def test_of_wide_tables_and_of_few_rows_single_inputs_are_looked_at():
    for wide in (relevance(301, n=1e6), relevance(D, n=9.0 * D)):
        assert not wide.directed
        np.testing.assert_array_equal(wide.root("full"), wide.root("diagonal"))
    assert relevance(D, n=10.0 * D).directed


@pytest.mark.parametrize("odd", [0.0, np.nan, np.inf])
def test_where_nothing_matters_there_is_no_relevance(odd):
    assert Relevance.of(GradientSums(100.0, np.full((D, D), odd))) is None
