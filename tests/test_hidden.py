import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from elmband._arrays import to_numpy
from elmband.hidden import LayerSpec
from elmband.neurons import KINDS
from elmband.sample import sample_rows

Z = np.random.default_rng(0).standard_normal((60, 4))
SAMPLE = sample_rows(Z, 30, seed=1)


def draw(n_neurons, seed=3, **options):
    return LayerSpec.parse(n_neurons, **options).draw(Z.shape[1], seed, SAMPLE)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_equals_its_formula_on_every_library(kind, xp):
    layer = draw({kind: 3})
    expected = oracle.hidden_outputs(Z, oracle.blocks_of(layer))
    rows = xp.asarray(Z)
    actual = layer.to(rows, xp.float64)(rows)
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_stays_float32_and_close(kind, xp):
    layer = draw({kind: 3})
    rows = xp.asarray(Z, dtype=xp.float32)
    actual = layer.to(rows, xp.float32)(rows)
    assert actual.dtype == xp.float32
    expected = oracle.hidden_outputs(Z, oracle.blocks_of(layer))
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-4, atol=1e-5)


def test_a_mix_keeps_its_order():
    layer = draw({"linear": 4, "sigmoid": 5, "rbf_l2": 2})
    assert layer.n_neurons == 11
    H = layer(Z)
    np.testing.assert_array_equal(H[:, :4], Z)
    assert ((H[:, 4:] > 0) & (H[:, 4:] <= 1)).all()


def test_as_many_linear_neurons_as_inputs_pass_through():
    np.testing.assert_array_equal(draw({"linear": 4})(Z), Z)


def test_fewer_linear_neurons_are_random_combinations():
    H = draw({"linear": 2})(Z)
    assert np.linalg.matrix_rank(np.column_stack([H - H.mean(0), Z - Z.mean(0)]), tol=1e-8) == 4


def test_own_function_is_applied_to_the_weighted_inputs():
    layer = draw({np.sin: 6})
    _, W, b = oracle.blocks_of(layer)[0]
    np.testing.assert_allclose(layer(Z), np.sin(Z @ W + b))


def test_activation_names_the_kind_of_a_plain_number():
    layer = draw(7, activation="relu")
    assert [block.kind for block in layer.blocks] == ["relu"]
    assert layer.n_neurons == 7


@given(st.floats(0.05, 1.0), st.integers(1, 30), st.integers(1, 20))
def test_density_is_the_share_of_inputs_seen_and_keeps_the_scale(density, n_features, seed):
    spec = LayerSpec.parse(400, density=density)
    W = spec.draw(n_features, seed).blocks[0].weights
    seen = (W != 0).sum(axis=0)
    assert seen.min() >= 1
    # One input is always seen, so the expected share lies a little above the density.
    share = density + (1 - density) ** n_features / n_features
    assert abs((W != 0).mean() - share) < 5 / np.sqrt(400 * n_features)
    assert np.sqrt((W**2).sum(axis=0).mean()) == pytest.approx(1, abs=0.25)


def test_weight_scale_multiplies_weights():
    small, large = draw(5), draw(5, weight_scale=3.0)
    np.testing.assert_allclose(large.blocks[0].weights, 3 * small.blocks[0].weights)
    np.testing.assert_allclose(large.blocks[0].bias, 3 * small.blocks[0].bias)
    narrow, wide = draw({"rbf_l1": 5}, weight_scale=2.0), draw({"rbf_l1": 5})
    np.testing.assert_allclose(2 * narrow.blocks[0].bias, wide.blocks[0].bias)


def test_without_bias_zero_stays_zero():
    assert not draw(5, bias=False)(np.zeros((1, 4))).any()


def test_a_larger_layer_contains_the_smaller_one():
    np.testing.assert_array_equal(draw(50)(Z)[:, :20], draw(20)(Z))


def test_seeds_and_blocks_differ():
    first, second = draw({"tanh": 5, "relu": 5}).blocks
    assert not np.isclose(first.weights, second.weights).any()
    assert not np.isclose(first.weights, draw(5, seed=4).blocks[0].weights).any()


def test_centres_are_training_rows_and_are_reused_when_there_are_more_neurons_than_rows():
    centres = draw({"rbf_l2": 50}).blocks[0].weights.T
    assert all((centre == Z).all(axis=1).any() for centre in centres)
    assert len(np.unique(centres, axis=0)) == 30
    assert np.linalg.matrix_rank(draw({"rbf_l2": 50})(Z)) == 50


def test_two_radial_blocks_use_different_rows_first():
    one, two = draw({"rbf_l2": 10, "rbf_l1": 10}).blocks
    assert not (one.weights[:, :, None] == two.weights[:, None, :]).all(axis=0).any()


def test_one_distinct_row_still_gives_a_usable_width():
    sample = sample_rows(np.zeros((5, 2)), 3, seed=0)
    layer = LayerSpec.parse({"rbf_l2": 3}).draw(2, 0, sample)
    assert np.isfinite(layer(np.ones((1, 2)))).all()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n_neurons": {"tanhh": 3}}, "Unknown kind of neuron 'tanhh'; known are linear, tanh"),
        ({"n_neurons": 3, "activation": "elu"}, "Unknown kind of neuron 'elu'"),
        ({"n_neurons": 0}, "at least 1 for each kind; got 0 for 'tanh'"),
        ({"n_neurons": 2.5}, "got 2.5"),
        ({"n_neurons": True}, "got True"),
        ({"n_neurons": {}}, "names no neurons"),
        ({"n_neurons": 3, "density": 0.0}, "density must lie above 0"),
        ({"n_neurons": 3, "density": 1.5}, "density must lie above 0 and be at most 1; got 1.5"),
        ({"n_neurons": 3, "weight_scale": -1.0}, "weight_scale must be positive; got -1.0"),
        ({"n_neurons": 3, "weight_scale": float("nan")}, "weight_scale must be positive"),
    ],
)
def test_bad_specifications_get_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        LayerSpec.parse(**arguments)


def test_too_many_linear_neurons_get_a_sentence():
    with pytest.raises(ValueError, match="asks for 5 linear neurons, but X has 4 features"):
        draw({"linear": 5})


def test_own_function_of_wrong_shape_gets_a_sentence():
    with pytest.raises(ValueError, match="must return an array of the shape it is given"):
        draw({(lambda t: t.sum(axis=1)): 5})(Z)
