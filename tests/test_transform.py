"""Transforms of targets on their own: there and back, ends of ranges, Box-Cox, refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.preprocessing import PowerTransformer

from elmband.ground.arrays import namespace, to_numpy
from elmband.uncertainty.transform import BoxCox, Identity, Log, Log1p, Logit, fit_transform

RNG = np.random.default_rng(0)
SKEWED = RNG.gamma(2.0, 3.0, size=(200, 2)) + np.array([0.1, 5.0])
SAFE_ARCTANH = lambda t: np.arctanh(np.clip(t, -1, 1))  # noqa: E731 - a pair as users write it
INFINITE = np.array([[-np.inf], [np.inf]])

positive = st.floats(1e-100, 1e100)
shapes = st.floats(-2, 2)


def column(values):
    return np.asarray(values, dtype=np.float64)[:, None]


def back_and_forth(transform, Y):
    return transform.inverse(transform.forward(Y))


@given(st.lists(positive, min_size=1))
def test_logarithms_come_back(values):
    Y = column(values)
    np.testing.assert_allclose(back_and_forth(Log(), Y), Y, rtol=1e-12)
    np.testing.assert_allclose(back_and_forth(Log1p(), Y), Y, rtol=1e-12)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.lists(st.floats(1e-6, 1 - 1e-6), min_size=1))
def test_logits_come_back(low, width, shares):
    Y = low + width * column(shares)
    transform = Logit.between(low, low + width)
    # Rounding of y - low counts against y itself.
    tolerance = 1e-12 * (abs(low) + width)
    np.testing.assert_allclose(back_and_forth(transform, Y), Y, rtol=0, atol=tolerance)


@given(shapes, st.lists(st.floats(1e-3, 1e3), min_size=1))
def test_box_cox_comes_back(shape, values):
    Y = column(values)
    # The bend flattens one end: what is left there of 16 digits differs by (y/g)^λ, at most 1e6.
    np.testing.assert_allclose(back_and_forth(BoxCox((shape,), (0.0,)), Y), Y, rtol=1e-9)


@given(
    st.sampled_from([Log(), Log1p(), Logit(), Logit(-3, 7), BoxCox((0.4,), (1.0,))]),
    st.lists(st.floats(-1e308, 1e308) | st.sampled_from([-np.inf, np.inf]), min_size=2),
)
def test_every_number_maps_into_the_range_in_order(transform, values):
    Y = transform.inverse(column(sorted(values)))
    assert Y.min() >= getattr(transform, "low", 0)
    assert Y.max() <= getattr(transform, "high", np.inf)
    assert (Y[1:] >= Y[:-1]).all()


@pytest.mark.parametrize(
    ("transform", "ends"),
    [
        (Identity(), (-np.inf, np.inf)),
        (Log(), (0, np.inf)),
        (Log1p(), (0, np.inf)),
        (Logit(2.0, 5.0), (2, 5)),
        (BoxCox((0.5,), (3.0,)), (0, np.inf)),
        (BoxCox((0.0,), (3.0,)), (0, np.inf)),
        (BoxCox((-0.5,), (3.0,)), (0, np.inf)),
        (fit_transform((np.arcsinh, np.sinh), SKEWED[:, :1]), (-np.inf, np.inf)),
        (fit_transform((np.negative, np.negative), SKEWED[:, :1]), (-np.inf, np.inf)),
        (fit_transform((np.tanh, SAFE_ARCTANH), SKEWED[:, :1] / 10), (-np.inf, np.inf)),
        # Past its pole 1 / t comes back from below: the limit at that end is the pole's.
        (fit_transform((np.reciprocal, np.reciprocal), 9 + SKEWED[:, :1] / 9), (0, np.inf)),
        # No limit at infinity: the bound itself stays.
        (fit_transform((np.positive, lambda t: t + 0 * t), SKEWED[:, :1]), (-np.inf, np.inf)),
    ],
)
def test_infinite_bounds_map_to_the_ends_without_warnings(transform, ends):
    np.testing.assert_array_equal(transform.inverse(INFINITE)[:, 0], ends)


def test_past_its_end_box_cox_is_zero_or_infinite():
    T = column([-1e9, 0.0, 1e9])
    assert BoxCox((2.0,), (0.0,)).inverse(T)[0, 0] == 0
    assert np.isposinf(BoxCox((-2.0,), (0.0,)).inverse(T)[2, 0])


@pytest.mark.one_quick
@pytest.mark.parametrize("data", [SKEWED, np.exp(SKEWED), 1 / SKEWED, np.sqrt(SKEWED)])
def test_box_cox_finds_the_shape_that_scipy_finds(data):
    transform = BoxCox.fit(data)
    for j, shape in enumerate(transform.shape):
        expected = float(np.clip(stats.boxcox_normmax(data[:, j], method="mle"), -2, 2))
        assert shape == pytest.approx(expected, abs=1e-5)
    ours, theirs = (T / T.std(axis=0) for T in (transform.forward(data), _power(data)))
    # Up to a shift and a scale, which standardising takes away.
    np.testing.assert_allclose(ours - ours.mean(axis=0), theirs - theirs.mean(axis=0), atol=1e-4)


def _power(data):
    columns = []
    for y in data.T:
        shape = np.clip(stats.boxcox_normmax(y / stats.gmean(y), method="mle"), -2, 2)
        columns.append(stats.boxcox(y / stats.gmean(y), shape))
    return np.stack(columns, axis=1)


def test_box_cox_agrees_with_scikit_learn():
    ours = BoxCox.fit(SKEWED).forward(SKEWED)
    theirs = PowerTransformer(method="box-cox").fit_transform(SKEWED)
    scaled = (ours - ours.mean(axis=0)) / ours.std(axis=0)
    np.testing.assert_allclose(scaled, theirs, atol=1e-5)


@given(st.floats(1e-9, 1e9))
def test_the_unit_does_not_change_the_bend(unit):
    transform, other = BoxCox.fit(SKEWED), BoxCox.fit(SKEWED * unit)
    np.testing.assert_allclose(other.shape, transform.shape, atol=1e-6)
    np.testing.assert_allclose(other.forward(SKEWED * unit), transform.forward(SKEWED), atol=1e-5)


def test_weights_are_counts_for_box_cox():
    counts = RNG.integers(1, 5, size=200)
    weighted = BoxCox.fit(SKEWED, counts.astype(np.float64))
    repeated = BoxCox.fit(np.repeat(SKEWED, counts, axis=0))
    # A minimum is found to the square root of the rounding of its value.
    np.testing.assert_allclose(weighted.shape, repeated.shape, atol=1e-7)
    np.testing.assert_allclose(weighted.log_centre, repeated.log_centre, rtol=1e-12)
    assert not np.allclose(BoxCox.fit(SKEWED).shape, weighted.shape, atol=1e-3)


def test_box_cox_bears_constant_and_extreme_targets():
    assert BoxCox.fit(np.full((5, 1), 3.0)).shape == (1.0,)
    extreme = column([1e-300, 1.0, 2.0, 1e300])
    np.testing.assert_allclose(back_and_forth(BoxCox.fit(extreme), extreme), extreme, rtol=1e-9)


def test_every_library_gives_the_same(xp):
    Y = xp.asarray(SKEWED)
    choices = ["log", "log1p", "box-cox", ("logit", 0, 100), (xp.asinh, xp.sinh), None]
    for choice in choices:
        transform = fit_transform(choice, Y, xp.ones_like(Y[:, 0]))
        T = transform.forward(Y)
        again = transform.inverse(T)
        assert namespace(T) is namespace(again) is namespace(Y)
        plain = (np.asinh, np.sinh) if choice == (xp.asinh, xp.sinh) else choice
        expected = fit_transform(plain, SKEWED).forward(SKEWED)
        np.testing.assert_allclose(to_numpy(T), expected, rtol=1e-6, atol=1e-12)
        np.testing.assert_allclose(to_numpy(again), SKEWED, rtol=1e-9)
        ends = transform.inverse(xp.asarray(np.repeat(INFINITE, 2, axis=1)))
        assert not bool(xp.any(xp.isnan(ends)))


def test_a_falling_function_is_turned():
    Y = SKEWED
    pair = fit_transform((lambda y: -np.log(y), lambda t: np.exp(-t)), Y)
    assert pair.sign == (-1.0, -1.0)
    np.testing.assert_allclose(pair.forward(Y), np.log(Y))
    np.testing.assert_allclose(back_and_forth(pair, Y), Y)


def test_outputs_may_rise_and_fall_on_their_own():
    turn = np.array([1.0, -1.0])
    pair = fit_transform((lambda y: y * turn, lambda t: t * turn), SKEWED)
    assert pair.sign == (1.0, -1.0)
    np.testing.assert_array_equal(pair.forward(SKEWED), SKEWED)


@pytest.mark.parametrize(
    ("choice", "values", "sentence"),
    [
        ("log", [1, 0, 2], r"'log' needs y above 0; its least value is 0\. Use 'log1p'"),
        ("box-cox", [1, -3.5, 2], r"'box-cox' needs y above 0; its least value is -3\.5\."),
        ("log1p", [1, -0.5, 2], r"'log1p' needs y of at least 0; its least value is -0\.5\. Add"),
        ("logit", [0.5, 0, 1], r"strictly between 0 and 1; its values go from 0 to 1\. Give"),
        (("logit", -1, 5), [0, 7], "strictly between -1 and 5; its values go from 0 to 7"),
        (("logit", 5, 5), [1, 2], "two finite numbers, the lower first; got 5 and 5"),
        (("logit", "a", 5), [1, 2], "two finite numbers, the lower first; got 'a' and 5"),
        (("logit", 0, np.inf), [1, 2], "two finite numbers, the lower first; got 0 and inf"),
        ("sqrt", [1, 2], r"target_transform must be 'auto', None, 'log', .* got 'sqrt'"),
        ((np.log,), [1, 2], "pair of functions"),
        ((np.log, "exp"), [1, 2], "pair of functions"),
        (3.0, [1, 2], "pair of functions .* got 3.0"),
        ((np.log, np.exp), [1, -2], "function of target_transform is not finite at y = -2"),
        ((np.log, np.square), [1, 2, 3], "not undo its function: y = 1 comes back as 0"),
        ((np.square, np.sqrt), [-1, 0.5, 2], "it turns between y = -1 and y = 0.5"),
        ((np.square, np.sqrt), [1, 2, 3], "inverse of target_transform gives nan at -7, where a"),
        ((np.exp, np.log), [0, 1, 2], "inverse of target_transform gives nan at -5.38"),
        ((np.reciprocal, np.reciprocal), [1, 2, 4], "inverse of target_transform gives -2 at -0.5"),
        ((np.sqrt, np.square), [1, 4, 16], r"gives 4 at -2, .* np.maximum\(t, 0\) \*\* 2 does"),
        ((np.sum, np.exp), [1, 2], r"element by element; one of them made shape \(\) of \(2, 1\)"),
        ((np.floor, np.positive), [1.2, 2], "not undo its function: y = 1.2 comes back as 1"),
    ],
)
def test_refusals_are_sentences(choice, values, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit_transform(choice, column(values)).forward(column(values))


def test_the_output_at_fault_is_named():
    with pytest.raises(ValueError, match="needs output 1 of y above 0; its least value is -1"):
        Log().forward(np.array([[1.0, 2.0], [2.0, -1.0]]))


def test_a_pair_refuses_new_targets_outside_its_domain():
    pair = fit_transform((np.log, np.exp), SKEWED)
    with pytest.raises(ValueError, match="not finite at y = -1"):
        pair.forward(np.array([[1.0, -1.0]]))


def test_a_pair_that_fails_far_away_says_so_there():
    pair = fit_transform((np.square, np.sqrt), 100 + SKEWED)
    pair.inverse(np.array([[5.0, 5.0]]))
    with pytest.raises(ValueError, match="gives nan at -5, where a prediction or a bound"):
        pair.inverse(np.array([[5.0, -5.0]]))
