"""Products summed in float64: against exact sums, on every library."""

import numpy as np
import pytest

from elmband.ground.arrays import to_numpy
from elmband.sums import products

RNG = np.random.default_rng(0)


@pytest.mark.one_quick
@pytest.mark.parametrize("columns", [3, 70, 131])
@pytest.mark.parametrize("rows", [1, 50, 512, 5000])
def test_squares_are_those_of_float64(xp, rows, columns):
    H = RNG.standard_normal((rows, columns)).astype(np.float32)
    exact = H.T.astype(np.float64) @ H.astype(np.float64)
    found = products.squares(xp.asarray(H))
    assert found.dtype == xp.float64
    # Float32 products of 512 rows at most, summed in float64.
    np.testing.assert_allclose(to_numpy(found), exact, atol=2e-5 * rows**0.5 + 2e-6 * rows)
    double = products.squares(xp.asarray(H.astype(np.float64)))
    np.testing.assert_allclose(to_numpy(double), exact, rtol=1e-12, atol=1e-10)


def test_many_rows_lose_no_more_digits_than_few(xp):
    # A column of ones with a small trend: the sum of a long float32 product would drift.
    if xp.__name__ == "array_api_compat.numpy":
        pytest.skip("NumPy is given chunks of a few thousand rows")
    n = 300_000
    H = np.column_stack([np.ones(n), 1 + 1e-4 * np.arange(n) / n]).astype(np.float32)
    exact = H.T.astype(np.float64) @ H.astype(np.float64)
    found = to_numpy(products.cross(xp.asarray(H), xp.asarray(H)))
    assert np.abs(found / exact - 1).max() < 5e-6


@pytest.mark.parametrize("rows", [1, 2048, 5000])
def test_column_sums(xp, rows):
    X = (RNG.standard_normal((rows, 3)) + 5).astype(np.float32)
    found = products.column_sums(xp.asarray(X))
    assert found.dtype == xp.float64
    np.testing.assert_allclose(to_numpy(found), X.sum(axis=0, dtype=np.float64), rtol=2e-6)


def test_squared_norms(xp):
    T = RNG.standard_normal((40, 7))
    found = to_numpy(products.squared_norms(xp.asarray(T)))
    np.testing.assert_allclose(found, (T**2).sum(axis=1))
