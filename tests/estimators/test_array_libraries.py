"""Estimators on arrays of other libraries, following scikit-learn's array API dispatch."""

import numpy as np
import pytest
from array_api_compat import device
from sklearn import config_context

from elmband.datasets import make_heteroscedastic
from elmband.ground.arrays import namespace, to_numpy
from published import published

DATA = make_heteroscedastic(300, random_state=0)
GRID = np.linspace(-3.5, 3.5, 40)[:, None]
MIX = {"linear": 1, "tanh": 8, "sigmoid": 4, "relu": 4, "rbf_l1": 4, "rbf_l2": 4, "rbf_linf": 4}


@pytest.mark.one_on_jax
@pytest.mark.one_quick
@pytest.mark.parametrize("rule", [1.0, "loo", "gcv"])
@pytest.mark.parametrize("noise_neurons", [None, {"rbf_l2": 6}])
@pytest.mark.parametrize("n", [300, 25])
def test_the_library_changes_nothing(xp, rule, noise_neurons, n):
    model = published(MIX, alpha=rule, noise_alpha=1.0, noise_neurons=noise_neurons, random_state=0)
    expected = model.fit(DATA.X[:n], DATA.y[:n]).predict_interval(GRID, [0.5, 0.9])
    weights = np.ones(n)
    with config_context(array_api_dispatch=True):
        model.fit(xp.asarray(DATA.X[:n]), xp.asarray(DATA.y[:n]), xp.asarray(weights))
        rows = xp.asarray(GRID)
        interval = model.predict_interval(rows, [0.5, 0.9])
        mean, std = model.predict(rows, return_std=True)
        parts = model.predict_variance(rows)
    for array in (interval, mean, std, *parts, model.coef_, model.covariance_):
        assert namespace(array) is namespace(rows)
        assert device(array) == device(rows)
    # A chosen strength may be tiny, and rounding then weighs more.
    tolerance = 1e-10 if rule == 1.0 else 1e-7
    np.testing.assert_allclose(to_numpy(interval), expected, rtol=tolerance, atol=tolerance)


def test_without_dispatch_every_array_becomes_numpy(xp):
    if xp.__name__ == "array_api_strict":
        pytest.skip("array-api-strict refuses to be converted silently")
    fitted = published(10, random_state=0).fit(xp.asarray(DATA.X), xp.asarray(DATA.y))
    assert isinstance(fitted.predict_interval(xp.asarray(GRID)), np.ndarray)


@pytest.mark.torch
def test_rows_of_another_library_get_a_sentence():
    torch = pytest.importorskip("torch")
    with config_context(array_api_dispatch=True):
        fitted = published(10).fit(torch.asarray(DATA.X), torch.asarray(DATA.y))
        with pytest.raises(ValueError, match="must use the same namespace"):
            fitted.predict_interval(DATA.X)
