"""What training targets say of others: their range, and how far means go."""

import math

import numpy as np
import pytest

from elmband.ground.arrays import to_numpy
from elmband.models.target_units import TargetUnits
from elmband.sums.scaling import Extent, Scaling
from elmband.uncertainty.left_out import LeftOut
from elmband.uncertainty.noise.parts import Support
from elmband.uncertainty.targets import found_range, given_range, smearing_points, told_range
from elmband.uncertainty.transform import BoxCox, Identity, Log

INF = math.inf


def ends(*pairs):
    low, high = np.array(pairs, dtype=float).T
    return Extent(low, high)


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        ((0, 7), (0, INF)),
        ((5, 900), (0, INF)),
        ((0, 1), (0, 1)),
        ((0.2, 0.9), (0, 1)),
        ((-1, 1), (-INF, INF)),
        ((-9, -1), (-INF, 0)),
        ((-9, 0), (-INF, 0)),
        ((0, 0), (-INF, INF)),
        ((3, 3), (-INF, INF)),
    ],
)
def test_ranges_are_found(pair, expected):
    assert found_range(ends(pair), 20) == (expected,)
    assert found_range(ends(pair), 19) == ((-INF, INF),)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [((0, None), (0, INF)), ([None, 5], (-INF, 5)), ((-1, 1.5), (-1, 1.5)), ((0, INF), (0, INF))],
)
def test_ranges_are_given(choice, expected):
    assert given_range(choice, 2) == (expected,) * 2


@pytest.mark.parametrize(
    "choice", [5, "wide", (1,), (2, 1), (0, 0), ("a", 1), (math.nan, 1), (True, 2)]
)
def test_what_is_no_range_is_refused(choice):
    with pytest.raises(ValueError, match=r"target_range must be 'auto', None or a pair"):
        given_range(choice, 1)


def test_ranges_are_told():
    assert told_range(((-INF, INF),)) == ""
    assert told_range(((0.0, 1.0), (0.0, 1.0))) == "between 0 and 1"
    assert told_range(((-INF, 2.5), (0.0, INF))) == "at or below 2.5; at or above 0"


def test_means_end_a_tenth_of_the_distance_beyond_the_targets(xp):
    scaling = Scaling(xp.asarray([10.0, 0.0]), xp.asarray([2.0, 1.0]))
    extent = Extent(xp.asarray([8.0, -1.0]), xp.asarray([28.0, 1.0]))
    support = Support.of(extent, scaling, Identity(), 20_000)
    found = support.means(xp.asarray([[-100.0, -100.0], [0.5, 0.5], [100.0, 100.0]]))
    np.testing.assert_allclose(to_numpy(found), [[-2, -1.2], [0.5, 0.5], [10, 1.2]])
    bounds = support.bounds(xp.asarray([[-INF, 100.0], [100.0, INF]]))
    np.testing.assert_allclose(to_numpy(bounds), [[-INF, 1.5], [11.5, INF]], rtol=1e-2)


def test_means_do_not_pass_the_end_of_a_transform():
    """With λ = -1 T ends at 1, where targets are infinite."""
    transform = BoxCox((-1.0,), (0.0,))
    T = transform.forward(np.array([[0.5], [400.0]]))
    scaling = Scaling(np.zeros(1), np.ones(1))
    support = Support.of(Extent(T[0], T[1]), scaling, transform, 100)
    assert transform.inverse(support.means(np.array([[50.0]])))[0, 0] == pytest.approx(400)
    log = Support.of(ends((0, 1)), scaling, Log(), 100)
    assert log.means(np.array([[50.0]]))[0, 0] == pytest.approx(1.1)


def test_smearing_points_are_quantiles_of_weighted_errors():
    errors = np.arange(100.0)[:, None]
    points = smearing_points(LeftOut(errors, 0 * errors, None))
    np.testing.assert_allclose(points[0], np.arange(40) * 2.5 + 1, atol=1.5)
    heavy = smearing_points(LeftOut(errors, 0 * errors, np.where(errors[:, 0] < 10, 1.0, 1e-9)))
    assert max(heavy[0]) < 10


def test_means_over_errors_are_those_of_each_error_by_itself():
    rng = np.random.default_rng(0)
    X, mean = np.zeros((5000, 1)), rng.standard_normal((5000, 2))
    scaling = Scaling(np.array([1.0, 2.0]), np.array([0.5, 0.25]))
    units = TargetUnits(scaling, Log(), single_output=False)
    steps = [rng.standard_normal(2) for _ in range(7)]
    expected = np.mean([np.exp((mean + s) * [0.5, 0.25] + [1, 2]) for s in steps], axis=0)
    # One row with all steps at once, some rows with some of them, many rows step by step.
    for n in (1, 1500, 5000):
        found = units.averaged(mean[:n], steps, X[:n])
        np.testing.assert_allclose(found, expected[:n], rtol=1e-12)
