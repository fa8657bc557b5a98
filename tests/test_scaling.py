import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.ground.arrays import to_numpy
from elmband.sums.scaling import Scaling, column_moments

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 3)) * [1.0, 1e-6, 1e6] + [0.0, 5.0, -1e7]


@given(st.integers(1, 199))
def test_parts_merge_to_the_whole(cut):
    merged = column_moments(X[:cut], None) + column_moments(X[cut:], None)
    scaling = Scaling.from_moments(merged)
    np.testing.assert_allclose(scaling.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scaling.scale, X.std(axis=0), rtol=1e-9)


def test_weights_count_rows(xp):
    s = RNG.integers(1, 5, size=200)
    repeated = np.repeat(X, s, axis=0)
    moments = column_moments(xp.asarray(X), xp.asarray(s, dtype=xp.float64))
    assert moments.n == len(repeated)
    scaling = Scaling.from_moments(moments)
    np.testing.assert_allclose(to_numpy(scaling.mean), repeated.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(to_numpy(scaling.scale), repeated.std(axis=0), rtol=1e-9)


@pytest.mark.parametrize("value", [0.0, 1.0, -0.1, 1e12 / 3, 1e-300])
@pytest.mark.parametrize("n", [2, 7, 1000])
def test_constant_columns_become_zero(value, n):
    column = np.full((n, 1), value)
    parts = column_moments(column[: n // 2], None) + column_moments(column[n // 2 :], None)
    scaling = Scaling.from_moments(parts)
    assert scaling.scale[0] == 1
    np.testing.assert_allclose(scaling(column), 0, atol=1e-12 * max(1, abs(value)))


def test_a_tiny_spread_around_a_large_mean_is_kept():
    column = 1e6 + 1e-3 * RNG.standard_normal((5000, 1))
    scaling = Scaling.from_moments(column_moments(column, None))
    assert scaling(column).std() == pytest.approx(1, rel=1e-6)
