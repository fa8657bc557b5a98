"""Units: targets and inputs times 1e300 and 1e-300 change nothing but the units."""

import numpy as np
import pytest
from kinds import plain

from elmband import ELMClassifier, ELMIntervalRegressor

RNG = np.random.default_rng(0)
X, Y = plain(RNG, 200)
NEW, _ = plain(RNG, 100)
SCALES = [1e-300, 1e-150, 1e150, 1e300]


def _model():
    return ELMIntervalRegressor(random_state=0)


@pytest.fixture(scope="module")
def expected():
    return _model().fit(X, Y).predict_interval(NEW, 0.9)


def assert_close(actual, expected):
    """Compare bounds; rounding of the units may change them by a millionth of a width."""
    atol = 1e-6 * np.median(np.diff(expected))
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol)


@pytest.mark.slow
@pytest.mark.parametrize("scale", SCALES)
def test_intervals_follow_targets(expected, scale):
    assert_close(_model().fit(X, scale * Y).predict_interval(NEW, 0.9) / scale, expected)


@pytest.mark.one_quick
@pytest.mark.parametrize("scale", SCALES)
def test_units_of_inputs_change_nothing(expected, scale):
    assert_close(_model().fit(scale * X, Y).predict_interval(scale * NEW, 0.9), expected)


def test_columns_may_have_units_of_their_own(expected):
    units = np.array([1e-300, 1e300])
    assert_close(_model().fit(units * X, Y).predict_interval(units * NEW, 0.9), expected)


@pytest.mark.one_quick
@pytest.mark.parametrize("scale", SCALES)
def test_units_of_inputs_do_not_change_probabilities(scale):
    label = Y > 0.3
    expected = ELMClassifier(random_state=0).fit(X, label).predict_proba(NEW)
    found = ELMClassifier(random_state=0).fit(scale * X, label).predict_proba(scale * NEW)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
