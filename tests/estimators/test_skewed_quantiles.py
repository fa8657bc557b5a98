"""Quantiles of skewed noise lie where they belong, on either side of the mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband import ELMIntervalRegressor, scan

QUANTILES = [0.4, 0.5, 0.55, 0.6, 0.75]


def drawn(n, seed):
    """Return rows and targets with exponential noise; its mean is above 63 % of it."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.sin(3 * X[:, 0]) + (0.5 + 0.3 * X[:, 1]) * rng.exponential(size=n)


X, Y = drawn(20_000, 0)
NEW, Y_NEW = drawn(20_000, 1)


def calibrated(kind, sign=1, n=20_000):
    model = ELMIntervalRegressor(20, symmetric=False, random_state=0).fit(X[:n], sign * Y[:n])
    held_out = drawn(n // 2, 2)
    if kind == "conformal":
        model.calibrate(held_out[0], sign * held_out[1])
    elif kind == "bins":
        model.calibrate(scan((held_out[0], sign * held_out[1])))
    return model


@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("kind", ["loo", "conformal", "bins"])
def test_every_quantile_has_its_share_of_new_targets_below_it(kind, sign):
    values = calibrated(kind, sign).predict_quantiles(NEW, QUANTILES)
    shares = np.mean(sign * Y_NEW[:, None] <= values, axis=0)
    np.testing.assert_allclose(shares, QUANTILES, atol=0.015)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["loo", "conformal"])
def test_narrow_intervals_hold_their_share_of_new_targets(kind):
    levels = [0.05, 0.1, 0.2, 0.5]
    interval = calibrated(kind).predict_interval(NEW, levels)
    inside = (interval[:, 0] <= Y_NEW[:, None]) & (Y_NEW[:, None] <= interval[:, 1])
    np.testing.assert_allclose(inside.mean(axis=0), levels, atol=0.015)


@pytest.fixture(scope="module", params=["loo", "conformal", "bins"])
def small(request):
    return calibrated(request.param, n=200)


@pytest.mark.slow
@given(st.lists(st.one_of(st.floats(0.01, 0.99), st.just(0.5)), min_size=2, max_size=8))
def test_quantiles_of_skewed_noise_never_cross(small, quantiles):
    values = small.predict_quantiles(NEW[:10], sorted(quantiles))
    assert (np.diff(values, axis=1) >= 0).all()


@pytest.mark.one_quick
@given(st.lists(st.floats(0.001, 0.97), min_size=2, max_size=6))
def test_levels_of_skewed_noise_are_nested(small, levels):
    interval = small.predict_interval(NEW[:10], sorted(levels))
    assert (np.diff(interval[:, 0], axis=1) <= 0).all()
    assert (np.diff(interval[:, 1], axis=1) >= 0).all()
    assert (interval[:, 0] <= interval[:, 1]).all()


def test_normal_multipliers_have_the_mean_for_a_median():
    model = ELMIntervalRegressor(20, symmetric=False, calibration="gaussian", random_state=0)
    model.fit(X[:200], Y[:200])
    np.testing.assert_array_equal(model.predict_quantiles(NEW, 0.5), model.predict(NEW))


@pytest.mark.slow
def test_every_output_has_its_own_median():
    model = ELMIntervalRegressor(20, symmetric=False, random_state=0)
    model.fit(X[:2000], np.column_stack([Y, -Y])[:2000])
    median, mean = model.predict_quantiles(NEW, 0.5), model.predict(NEW)
    assert (median[:, 0] < mean[:, 0]).all()
    assert (median[:, 1] > mean[:, 1]).all()
