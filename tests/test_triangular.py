import numpy as np
import pytest

from elmband._arrays import to_numpy
from elmband.covariance import CovarianceRoot, quadratic_form
from elmband.triangular import squared_lengths

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("size", [1, 5, 96, 97, 300])
@pytest.mark.parametrize("shape", ["upper", "lower"])
def test_squared_lengths_are_those_of_the_whole_product(xp, size, shape):
    H = RNG.standard_normal((40, size))
    F = (np.triu if shape == "upper" else np.tril)(RNG.standard_normal((size, size)))
    expected = np.sum((H @ F) ** 2, axis=1)
    actual = squared_lengths(xp.asarray(H), xp.asarray(F), shape)
    np.testing.assert_allclose(to_numpy(actual), expected, rtol=1e-12)


def test_what_lies_in_the_other_triangle_is_not_touched():
    F = np.triu(RNG.standard_normal((200, 200)))
    H = RNG.standard_normal((7, 200))
    spoiled = F.copy()
    spoiled[150:, :90] = np.nan
    np.testing.assert_array_equal(
        squared_lengths(H, spoiled, "upper"), squared_lengths(H, F, "upper")
    )


@pytest.mark.parametrize("rank", [150, 20])
def test_the_root_of_a_covariance_gives_its_quadratic_form(xp, rank):
    """A singular covariance has no root; it is then used as it is."""
    factors = RNG.standard_normal((2, 150, rank))
    covariance = factors @ factors.transpose(0, 2, 1)
    H = xp.asarray(RNG.standard_normal((30, 150)))
    root = CovarianceRoot.of(xp.asarray(covariance))
    assert root.triangular == (rank == 150)
    np.testing.assert_allclose(
        to_numpy(root.quadratic(H)), quadratic_form(to_numpy(H), covariance), rtol=1e-9
    )
