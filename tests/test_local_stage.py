"""One stage of local layers against ridge regression level by level."""

import numpy as np
import pytest

from elmband.layers.hidden import HiddenLayer
from elmband.layers.neurons import Neurons
from elmband.stacks.levels import BinLevels, Block, MarkLevels
from elmband.stacks.local_layers import LocalLayers, LocalStage, SharedNeurons
from elmband.sums.scaling import Scaling
from elmband.uncertainty.local_fit.sample import InputLayout, LocalRows
from elmband.uncertainty.local_fit.stage import LocalInputs, fit_stage

D, L, LEVELS, N = 3, 12, 5, 600
rng = np.random.default_rng(0)


def shared():
    neurons = Neurons("tanh", rng.standard_normal((D, L)), rng.standard_normal(L))
    neurons = Neurons("tanh", *(np.float32(a) for a in (neurons.weights, neurons.bias)))
    basis = np.linalg.qr(rng.standard_normal((L, L)))[0]
    inputs = Scaling(np.zeros(D), np.ones(D))
    return SharedNeurons(
        inputs, HiddenLayer((neurons,)), np.zeros(L, np.float32), np.float32(basis)
    )


SHARED = shared()
INPUTS = LocalInputs(SHARED, InputLayout.of(SHARED, []))
X = rng.standard_normal((N, D))
X[:, 0] = rng.integers(LEVELS, size=N)
PLACES = X[:, 0].astype(np.int32)
TARGET = np.sin(X[:, 1] * (1 + PLACES)) + PLACES - 2 + 0.1 * rng.standard_normal(N)


def rows(s=None):
    zero = np.zeros(N)
    s = np.ones(N) if s is None else s
    marks = np.empty((N, 0), np.int16)
    return LocalRows(np.float32(X), marks, s, zero.astype(np.uint64), PLACES[:, None], TARGET, zero)


def z(X):
    Z = SHARED.outputs(np.float32(X), L)
    return Z.astype(float)


def test_layers_are_a_ridge_regression_of_each_level_that_leaves_rows_out():
    found = fit_stage(rows(), INPUTS, PLACES, LEVELS, TARGET, L)
    for g in range(LEVELS):
        here = g == PLACES
        H, t = z(X[here]), TARGET[here]
        # The layer is one of ridge regression: refitting with its own filter tells γ apart.
        K = H.T @ H
        values, V = np.linalg.eigh(K)
        d = (V.T @ found.coef[g]) / (V.T @ H.T @ t)
        assert (d > 0).all()
        order = np.argsort(values)
        assert (np.diff(d[order]) < 0.03 * d.max()).all()
        leverages = ((H @ V) ** 2) @ d
        wanted = (t - H @ found.coef[g]) / (1 - leverages)
        np.testing.assert_allclose(found.left_out[here], wanted, rtol=0.02, atol=2e-3)
        known = found.leverages(np.float32(H), np.full(len(H), g))
        np.testing.assert_allclose(known, leverages, rtol=0.06, atol=1e-3)
    assert found.error < 0.2 * found.before


def test_weights_of_two_equal_rows_that_are_there_twice():
    s = 1.0 + (np.arange(N) % 3 == 0)
    weighted = fit_stage(rows(s), INPUTS, PLACES, LEVELS, TARGET, L)
    index = np.repeat(np.arange(N), s.astype(int))
    twice = rows().taken(index)
    repeated = fit_stage(twice, INPUTS, PLACES[index], LEVELS, TARGET[index], L)
    # The unit of strengths is that of some rows, whatever their weights.
    np.testing.assert_allclose(weighted.coef, repeated.coef, atol=0.01)


def test_no_targets_leave_no_layers():
    found = fit_stage(rows(), INPUTS, PLACES, LEVELS, np.zeros(N), L)
    assert not found.coef.any()
    assert found.gain == 0


def test_levels_with_few_rows_have_no_layer_and_the_variance_of_one_more():
    places = PLACES.copy()
    places[places == 4] = 3
    places[:10] = 4
    found = fit_stage(rows(), INPUTS, places, LEVELS, TARGET, L)
    assert not found.coef[[4, 5]].any()
    assert found.variance[[4, 5], 0].min() > found.variance[:4, 0].max()
    assert (found.left_out[:10] == TARGET[:10]).all()


def test_noise_alone_shrinks_to_nothing():
    noise = np.random.default_rng(3).standard_normal(N)
    found = fit_stage(rows(), INPUTS, PLACES, LEVELS, noise, L)
    assert abs(found.gain) < 0.01
    assert np.abs(z(X) @ found.coef[:LEVELS].T).max() < 1.0


def test_contributions_are_those_of_the_equations():
    found = fit_stage(rows(), INPUTS, PLACES, LEVELS, TARGET, L)
    edges = np.array([-0.5, 0.5, 1.5, 2.5, 3.5, 4.5])
    stage = LocalStage("x", "values", BinLevels(0, edges), found.coef, found.variance, found.gain)
    layers = LocalLayers(SHARED, (stage, stage))
    added, variances = layers.contributions(X)
    H = z(X)
    wanted = (H * found.coef[PLACES]).sum(axis=1)
    np.testing.assert_allclose(added, [wanted, wanted], rtol=1e-4, atol=1e-5)
    wanted = (H**2 * found.variance[PLACES]).sum(axis=1)
    np.testing.assert_allclose(variances[1], wanted, rtol=1e-4)
    new = layers.contributions(X + np.array([100.0, 0, 0]))
    assert not new[0].any()
    assert (new[1].mean() > variances.mean()).all()


def test_inputs_are_held_as_marks_and_come_back():
    inputs = Scaling(rng.uniform(0, 1, 6), rng.uniform(0.5, 2, 6))
    given = SharedNeurons(inputs, SHARED.hidden, SHARED.centre, SHARED.basis)
    layout = InputLayout.of(given, [Block(1, 4)])
    raw = rng.standard_normal((50, 6))
    raw[:, 1:4] = np.eye(3)[rng.integers(3, size=50)]
    # An unseen level has the mean of each mark.
    raw[0, 1:4] = inputs.mean[1:4]
    Z = given.standardised(raw)
    numbers, marks = layout.packed(raw, given, [MarkLevels(1, 4).places(raw)])
    assert numbers.shape == (50, 3)
    np.testing.assert_allclose(layout.standardised(numbers, marks), Z, atol=1e-6)


@pytest.mark.parametrize("width", [1, 4])
def test_fewer_shared_outputs_are_the_first_ones(width):
    found = fit_stage(rows(), INPUTS, PLACES, LEVELS, TARGET, width)
    assert found.coef.shape == (LEVELS + 1, width + 1)
    wanted = SHARED.outputs(np.float32(X), L)[:, : width + 1]
    np.testing.assert_allclose(SHARED.outputs(np.float32(X), width), wanted, atol=1e-6)
