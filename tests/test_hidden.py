import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

import oracle
from elmband.ground.arrays import to_numpy
from elmband.layers.hidden import FeatureMap, LayerSpec
from elmband.layers.neurons import KINDS
from elmband.layers.relevance import Relevance
from elmband.layers.views import RankScores, SoftClip
from elmband.sums.moments import Chunk
from elmband.sums.sample import sample_rows
from elmband.sums.scaling import Scaling

Z = np.random.default_rng(0).standard_normal((60, 4))
SAMPLE = sample_rows(Z, 30, seed=1)


# Some rows are centres: rounding leaves a distance of the root of its unit between both.
TIP = {"float64": 1e-7, "float32": 2e-3}


def draw(n_neurons, seed=3, **options):
    return LayerSpec.parse(n_neurons, **options).draw(Z.shape[1], seed, SAMPLE)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_equals_its_formula_on_every_library(kind, xp):
    layer = draw({kind: 3})
    expected = oracle.hidden_outputs(Z, oracle.blocks_of(layer))
    rows = xp.asarray(Z)
    actual = layer.to(rows, xp.float64)(rows)
    exact = 1e-12 if kind != "laplace" else TIP["float64"]
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-12, atol=exact)


@pytest.mark.parametrize("kind", KINDS)
def test_float32_stays_float32_and_close(kind, xp):
    layer = draw({kind: 3})
    rows = xp.asarray(Z, dtype=xp.float32)
    actual = layer.to(rows, xp.float32)(rows)
    assert actual.dtype == xp.float32
    expected = oracle.hidden_outputs(Z, oracle.blocks_of(layer))
    exact = 1e-5 if kind != "laplace" else TIP["float32"]
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-4, atol=exact)


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


A = np.random.default_rng(5).standard_normal((4, 4))
RELEVANCE = Relevance(A @ A.T / np.trace(A @ A.T))
SPECS = {
    "dense": {},
    "sparse": {"density": 0.4},
    "few inputs": {"max_inputs": 3},
    "few inputs, placed": {"max_inputs": 3, "placed": True},
    "directions": {"relevance": RELEVANCE},
    "inputs": {"relevance": RELEVANCE, "shape": "diagonal", "placed": True},
    "few relevant inputs": {"relevance": RELEVANCE, "max_inputs": 3, "placed": True},
}


@pytest.mark.parametrize("kind", ["tanh", "laplace"])
@pytest.mark.parametrize("options", SPECS.values(), ids=SPECS)
def test_a_larger_layer_contains_the_smaller_one(options, kind):
    large, small = draw({kind: 50}, **options), draw({kind: 20}, **options)
    for name in ("weights", "bias"):
        mine, theirs = (getattr(layer.blocks[0], name) for layer in (large, small))
        np.testing.assert_allclose(mine[..., :20], theirs, rtol=1e-14)


@pytest.mark.one_on_jax
@pytest.mark.parametrize("kind", ["laplace", "rbf_l1", "rbf_l2", "rbf_linf"])
@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_distances_of_relevant_directions_on_every_library(kind, shape, xp):
    layer = draw({kind: 3}, relevance=RELEVANCE, shape=shape)
    metric = layer.blocks[0].metric
    np.testing.assert_array_equal(metric, RELEVANCE.root(shape))
    new = np.random.default_rng(8).standard_normal((20, 4))
    expected = oracle.hidden_outputs(new @ metric, oracle.blocks_of(layer))
    rows = xp.asarray(new)
    actual = layer.to(rows, xp.float64)(rows)
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-11)
    assert layer.blocks[0].n_inputs == 4


def test_centres_of_a_metric_are_rows_in_it_and_widths_typical_distances():
    block = draw({"laplace": 25}, relevance=RELEVANCE, weight_scale=2.0).blocks[0]
    np.testing.assert_allclose(block.weights.T, SAMPLE.rows[:25] @ block.metric)
    typical = np.median(pdist(SAMPLE.rows @ block.metric))
    np.testing.assert_array_less(block.bias, 2.001 * typical / 2)
    np.testing.assert_array_less(0.499 * typical / 2, block.bias)


def test_weights_of_directions_have_the_covariance_of_their_relevance():
    """Of 20,000 draws a covariance is off by 1 %."""
    spec = LayerSpec((("tanh", 20_000),), weight_scale=1.5, relevance=RELEVANCE)
    W = spec.draw(4, 0).blocks[0].weights
    np.testing.assert_allclose(np.cov(W), 1.5**2 * RELEVANCE.matrix, atol=0.03)


def test_neurons_of_one_input_see_each_in_proportion_to_the_root_of_its_share():
    shares = np.array([0.64, 0.32, 0.04, 0.0])
    spec = LayerSpec((("tanh", 20_000),), max_inputs=1, relevance=Relevance(np.diag(shares)))
    W = spec.draw(4, 0).blocks[0].weights
    assert ((W != 0).sum(axis=0) == 1).all()
    roots = np.sqrt(shares)
    np.testing.assert_allclose((W != 0).mean(axis=1), roots / roots.sum(), atol=0.01)


def test_neurons_of_few_inputs_see_one_to_three_of_them():
    spec = LayerSpec((("tanh", 3000),), max_inputs=3, relevance=RELEVANCE)
    seen = (spec.draw(4, 0).blocks[0].weights != 0).sum(axis=0)
    np.testing.assert_allclose(np.bincount(seen)[1:] / 3000, 1 / 3, atol=0.03)


@pytest.mark.parametrize("options", SPECS.values(), ids=SPECS)
def test_bias_is_as_asked_and_scaled_whatever_neurons_are_drawn_from(options):
    options = {**options, "placed": False}
    assert not draw(5, bias=False, **options).blocks[0].bias.any()
    small, large = (draw(5, weight_scale=c, **options).blocks[0] for c in (1.0, 3.0))
    np.testing.assert_allclose(large.bias, 3 * small.bias)
    np.testing.assert_allclose(large.weights, 3 * small.weights)


def test_placed_neurons_are_zero_at_their_rows():
    block = draw(20, placed=True, relevance=RELEVANCE).blocks[0]
    T = SAMPLE.rows[:20] @ block.weights + block.bias
    np.testing.assert_allclose(np.diagonal(T), 0, atol=1e-12)


def test_inputs_are_passed_on_beside_neurons():
    layer = draw(5, passes=True, relevance=RELEVANCE)
    np.testing.assert_array_equal(layer(Z)[:, :4], Z)
    assert layer.n_neurons == 9


@pytest.mark.parametrize("kind", [SoftClip, RankScores])
def test_a_map_with_a_view_is_the_layer_on_what_is_seen(kind, xp):
    view = kind.of(Z**3, np.ones(len(Z)))
    layer = draw({"linear": 4, "tanh": 5})
    scaling = Scaling(np.arange(4.0), np.full(4, 2.0))
    raw = 2 * Z**3 + np.arange(4.0)
    rows = xp.asarray(raw)
    features = FeatureMap(scaling, layer, view).to(rows, xp.float64)
    expected = layer(view(Z**3))
    np.testing.assert_allclose(to_numpy(features.apply(rows)), expected, rtol=1e-9, atol=1e-9)
    mapped = features(Chunk(rows, rows, None)).X
    np.testing.assert_allclose(to_numpy(mapped), expected, rtol=1e-9, atol=1e-9)


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
