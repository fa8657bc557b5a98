"""The whole algorithm against its naive transcription, and what it must be invariant to."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import oracle
from published import published

RNG = np.random.default_rng(0)
X = RNG.uniform(-2, 2, size=(300, 3))
Y = np.sin(2 * X[:, 0]) + X[:, 1] + (0.1 + np.abs(X[:, 2])) * RNG.standard_normal(300)
X_TEST = RNG.uniform(-2.5, 2.5, size=(100, 3))
ALL_KINDS = {
    "linear": 3,
    "tanh": 10,
    "sigmoid": 5,
    "relu": 5,
    "rbf_l1": 4,
    "rbf_l2": 4,
    "rbf_linf": 4,
    np.sin: 3,
}
MODELS = {
    "shared": {"n_neurons": {"linear": 3, "tanh": 20}},
    "own noise neurons": {"n_neurons": 25, "noise_neurons": {"sigmoid": 12}, "noise_alpha": 2.0},
    "shared, own strength": {"n_neurons": 25, "noise_alpha": 3.0},
    "all kinds": {"n_neurons": ALL_KINDS, "noise_neurons": {"rbf_l2": 10}},
    "sparse, no bias": {"n_neurons": 30, "density": 0.4, "bias": False, "weight_scale": 2.0},
    "chosen by leave-one-out": {"n_neurons": 25, "alpha": "loo"},
    "chosen by gcv": {"n_neurons": 25, "noise_neurons": 10, "alpha": "gcv"},
    "more neurons than rows": {"n_neurons": 400, "noise_neurons": 350, "noise_alpha": 5.0},
}


def model(**options):
    return published(**{"alpha": 0.7, "random_state": 1} | options)


@pytest.fixture(params=MODELS.values(), ids=MODELS.keys())
def options(request):
    return request.param


def test_training_and_prediction_equal_the_published_steps(options):
    fitted = model(**options).fit(X, Y)
    expected = oracle.published(
        X,
        Y,
        X_TEST,
        0.9,
        oracle.blocks_of(fitted.hidden_),
        oracle.blocks_of(fitted.noise_hidden_),
        fitted.alpha_,
        fitted.noise_alpha_,
    )
    tolerance = {"rtol": 1e-8, "atol": 1e-12}
    mean, interval = fitted.predict(X_TEST, confidence_level=0.9)
    np.testing.assert_allclose(mean, expected["mean"], **tolerance)
    np.testing.assert_allclose(interval, expected["interval"], **tolerance)
    parts = fitted.predict_variance(X_TEST)
    for name in ("noise", "mean_model", "noise_model"):
        np.testing.assert_allclose(getattr(parts, name), expected[name], **tolerance)


@pytest.mark.slow
@given(st.floats(1e-3, 1e6), st.floats(-1e6, 1e6), st.booleans())
def test_intervals_follow_the_units_of_y(scale, shift, negative):
    scale = -scale if negative else scale
    options = {"n_neurons": {"tanh": 10, "rbf_l2": 5}, "alpha": "loo"}
    interval = model(**options).fit(X, Y).predict_interval(X_TEST)
    moved = model(**options).fit(X, scale * Y + shift).predict_interval(X_TEST)
    expected = np.sort(scale * interval + shift, axis=1)
    np.testing.assert_allclose(moved, expected, rtol=1e-6, atol=1e-6 * abs(scale))


@pytest.mark.slow
@given(st.permutations(range(300)), st.integers(1, 400))
def test_row_order_and_chunk_size_do_not_matter(order, chunk_size):
    options = {"n_neurons": ALL_KINDS, "noise_neurons": {"rbf_l2": 8}}
    expected = model(**options).fit(X, Y).predict_interval(X_TEST)
    order = list(order)
    other = model(**options, chunk_size=chunk_size).fit(X[order], Y[order])
    np.testing.assert_allclose(other.predict_interval(X_TEST), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.slow
@given(st.lists(st.integers(-6, 6), min_size=3, max_size=3))
def test_units_of_the_inputs_do_not_matter(powers):
    units = 10.0 ** np.array(powers)
    options = {"n_neurons": ALL_KINDS, "alpha": 1.0}
    expected = model(**options).fit(X, Y).predict_interval(X_TEST)
    actual = model(**options).fit(X * units, Y).predict_interval(X_TEST * units)
    np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9)


def test_weights_are_counts_for_intervals_too(options):
    counts = RNG.integers(0, 4, size=300)
    repeated = model(**options).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts))
    weighted = model(**options).fit(X, Y, sample_weight=counts)
    if not isinstance(options.get("alpha"), str):
        assert weighted.alpha_ == repeated.alpha_
    np.testing.assert_allclose(
        weighted.predict_interval(X_TEST), repeated.predict_interval(X_TEST), rtol=1e-7, atol=1e-9
    )


@pytest.mark.one_quick
def test_many_outputs_are_independent(options):
    two = np.column_stack([Y, X[:, 0] ** 2 + RNG.standard_normal(300)])
    both = model(**options).fit(X, two)
    assert both.predict(X_TEST).shape == (100, 2)
    assert both.predict_interval(X_TEST).shape == (100, 2, 2)
    assert both.predict_interval(X_TEST, [0.5, 0.8, 0.9]).shape == (100, 2, 2, 3)
    assert both.predict_variance(X_TEST).noise_upper.shape == (100, 2)
    for j in range(2):
        alone = model(**options).fit(X, two[:, j])
        np.testing.assert_allclose(
            both.predict_interval(X_TEST, [0.5, 0.9])[:, j],
            alone.predict_interval(X_TEST, [0.5, 0.9]),
            rtol=1e-7,
            atol=1e-9,
        )


def test_sharing_a_hidden_layer_equals_repeating_it():
    shared = model(n_neurons=25, noise_alpha=0.7).fit(X, Y)
    apart = model(n_neurons=25, noise_alpha=0.7).fit(X, Y)
    expected = oracle.published(
        X, Y, X_TEST, 0.95, *[oracle.blocks_of(apart.hidden_)] * 2, 0.7, 0.7
    )
    np.testing.assert_allclose(shared.predict_interval(X_TEST), expected["interval"], rtol=1e-8)
    assert shared.noise_hidden_ is shared.hidden_


def test_noise_neurons_are_not_those_of_the_mean_model():
    fitted = model(n_neurons=10, noise_neurons=10).fit(X, Y)
    ours, theirs = (layer.blocks[0].weights for layer in (fitted.hidden_, fitted.noise_hidden_))
    assert not np.isclose(ours, theirs).any()


def test_constant_and_repeated_columns_change_nothing_they_should_not():
    wider = np.column_stack([X, np.full(300, 7.0), np.zeros(300)])
    fitted = model(n_neurons=20).fit(wider, Y)
    wide_test = np.column_stack([X_TEST, np.full(100, 7.0), np.zeros(100)])
    assert np.isfinite(fitted.predict_interval(wide_test)).all()
    # A copy of a column and collinear neurons leave the equations solvable even at γ = 0.
    twice = model(n_neurons={"linear": 6, "tanh": 10}, alpha=0.0).fit(np.hstack([X, X]), Y)
    interval = twice.predict_interval(np.hstack([X_TEST, X_TEST]))
    assert np.isfinite(interval).all()
    assert (interval[:, 1] > interval[:, 0]).all()


@pytest.mark.parametrize("rule", ["loo", "gcv", 1.0])
def test_float32_gives_the_same_intervals_to_single_precision(rule):
    double = model(alpha=rule, n_neurons=40).fit(X, Y)
    single = model(alpha=rule, n_neurons=40).fit(X.astype(np.float32), Y)
    assert single.predict(X_TEST.astype(np.float32)).dtype == np.float32
    width = np.diff(double.predict_interval(X_TEST), axis=1)
    gap = single.predict_interval(X_TEST.astype(np.float32)) - double.predict_interval(X_TEST)
    assert np.abs(gap / width).max() < 0.02


def test_precision_overrides_the_dtype_of_the_data():
    single = model(precision="float32").fit(X, Y)
    assert single.predict(X_TEST).dtype == np.float32
    double = model(precision="float64").fit(X.astype(np.float32), Y)
    assert double.predict(X_TEST.astype(np.float32)).dtype == np.float64


def test_small_integers_are_worked_on_in_float32():
    pixels = RNG.integers(0, 256, size=(300, 3)).astype(np.uint8)
    fitted = model(n_neurons=20).fit(pixels, Y)
    assert fitted.predict(pixels).dtype == np.float32
    as_float = model(n_neurons=20).fit(pixels.astype(np.float64), Y)
    np.testing.assert_allclose(fitted.predict(pixels), as_float.predict(pixels * 1.0), atol=1e-3)
