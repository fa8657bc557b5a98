"""Variances of rows from roots, from whole matrices and from factors of low rank."""

import numpy as np
import pytest
from exported import computed

from elmband.models.onnx_export._quadratic import low_rank_form, quadratic, quadratic_form
from elmband.uncertainty.noise.fast import LowRank

RNG = np.random.default_rng(0)


def rows_and_covariance(size, rank, *, intercept):
    H = RNG.normal(size=(40, size))
    wide = np.concatenate([np.ones((40, 1)), H], axis=1) if intercept else H
    factor = RNG.normal(size=(wide.shape[1], rank))
    return H, factor @ factor.T, np.sum((wide @ factor) ** 2, axis=1)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("size", [1, 20, 127, 128, 129, 300])
def test_a_root_is_taken_in_blocks(size, intercept):
    H, covariance, expected = rows_and_covariance(size, 2 * size + 2, intercept=intercept)
    found = computed(lambda x: quadratic(x, covariance, intercept=intercept), H)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_matrix_without_a_root_is_taken_as_it_is(intercept):
    H, covariance, expected = rows_and_covariance(30, 4, intercept=intercept)
    found = computed(lambda x: quadratic(x, covariance, intercept=intercept), H)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_rounding_is_not_let_below_zero():
    negative = -1e-20 * np.eye(3)
    assert np.all(computed(lambda x: quadratic_form(x, negative), RNG.normal(size=(5, 3))) == 0)


def test_a_factor_of_low_rank_and_what_it_leaves_out():
    H, factors = RNG.normal(size=(40, 6)), RNG.normal(size=(1, 6, 2))
    low_rank = LowRank(factors, np.array([0.7]))
    expected = np.sum((H @ factors[0]) ** 2, axis=1) + 0.7
    np.testing.assert_allclose(computed(lambda x: low_rank_form(x, low_rank), H), expected)
