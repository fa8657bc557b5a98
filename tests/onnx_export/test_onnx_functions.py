"""Functions made of operators, against SciPy and NumPy."""

import numpy as np
import pytest
from exported import computed
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, ndtri

from elmband.models.onnx_export._functions import expm1, log1p, logistic, normal_quantile, positive


def quantile(p):
    p = np.atleast_1d(p)

    def function(x):
        one = x.apply("Reshape", x.whole(1))
        return normal_quantile(one).apply("Reshape", x.whole(1, 1))

    return np.array([computed(function, [value])[0] for value in p])


def test_normal_quantiles_are_those_of_scipy_in_all_three_regions():
    p = np.concatenate([[0.5, 0.6, 0.925, 0.9250001, 0.975], 1 - np.geomspace(1e-15, 1e-2, 12)])
    np.testing.assert_allclose(quantile(p), ndtri(p), rtol=2e-15)


@pytest.mark.slow
@given(level=st.floats(1e-6, 1 - 1e-12))
def test_normal_quantiles_are_those_of_scipy(level):
    p = (1 + level) / 2
    np.testing.assert_allclose(quantile(p), ndtri(p), rtol=2e-15)


def test_the_quantile_of_one_is_infinite():
    assert quantile(1.0) == np.inf


numbers = np.concatenate([-np.geomspace(1e-18, 500, 100), [0.0], np.geomspace(1e-18, 500, 100)])


def test_functions_that_operators_lack_are_exact_near_zero_and_far_away():
    np.testing.assert_allclose(computed(expm1, numbers), np.expm1(numbers), rtol=3e-15)
    np.testing.assert_allclose(computed(logistic, numbers), expit(numbers), rtol=3e-15)
    above = numbers[numbers > -0.99]
    np.testing.assert_allclose(computed(log1p, above), np.log1p(above), rtol=3e-15)
    np.testing.assert_array_equal(computed(positive, numbers), np.maximum(numbers, 0))


def test_functions_take_infinite_numbers():
    ends = np.array([-np.inf, np.inf])
    np.testing.assert_array_equal(computed(logistic, ends), [0, 1])
    assert computed(log1p, [np.inf]) == np.inf
    assert computed(expm1, [-np.inf]) == -1
