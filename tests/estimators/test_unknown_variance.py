"""Rows of which nothing can be known: constant inputs, and numbers too large to compute with."""

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 4))
Y = X[:, 0] + 0.3 * np.abs(X[:, 2]) * RNG.normal(size=300)
LINEAR = {"linear": 4, "tanh": 10}


@pytest.mark.parametrize("noise", ["log", "squared"])
@pytest.mark.parametrize("groups", [None, np.arange(200) % 7])
def test_constant_inputs_give_the_interval_of_the_targets(noise, groups):
    targets = np.arange(200.0)
    if noise == "squared" and groups is not None:
        pytest.skip("groups are for stacks")
    model = ELMIntervalRegressor(20, noise=noise, random_state=0)
    model.fit(np.ones((200, 2)), targets, groups=groups)
    low, high = model.predict_interval(np.ones((3, 2)), 0.9)[0]
    share = np.mean((low <= targets) & (targets <= high))
    assert share == pytest.approx(0.9, abs=0.06)


def test_constant_inputs_make_no_class_certain():
    model = ELMSelectiveClassifier(20, random_state=0).fit(np.ones((300, 2)), np.arange(300) % 2)
    assert (model.confidence(np.ones((3, 2))) <= 0.6).all()


@pytest.mark.slow
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize(
    "options", [{}, {"n_neurons": LINEAR}, {"n_neurons": LINEAR, "noise": "squared"}]
)
def test_a_variance_that_is_not_known_is_infinite(options, symmetric):
    if options.get("noise") == "squared" and not symmetric:
        pytest.skip("the published noise has no tails")
    options = {**options, "symmetric": symmetric, "random_state": 0}
    model = ELMIntervalRegressor(**options).fit(X.astype(np.float32), Y)
    far = X[:2].astype(np.float32)
    far[0, 0] = 3.4e38
    with np.errstate(all="ignore"):
        interval = model.predict_interval(far, 0.9)
        _, std = model.predict(far, return_std=True)
        accepted = model.accept(far, max_width=1e30)
    assert interval[0].tolist() == [-np.inf, np.inf]
    assert std[0] == np.inf
    assert accepted.tolist() == [False, True]
    assert np.isfinite(interval[1]).all()
    assert np.isfinite(std[1])


def test_nothing_is_known_of_the_median_but_the_mean():
    skewed = Y + RNG.exponential(size=300)
    model = ELMIntervalRegressor(LINEAR, symmetric=False, random_state=0).fit(X, skewed)
    assert model.calibration_.tails(0.05, 0)[1] < 0
    far = np.array([[1e200, 0, 0, 0], [0, 0, 0, 0]])
    with np.errstate(all="ignore"):
        interval = model.predict_interval(far, 0.05)
        quantiles = model.predict_quantiles(far, [0.45, 0.5, 0.55])
        mean = model.predict(far)
    assert interval[0].tolist() == [-np.inf, np.inf]
    assert quantiles[0].tolist() == [-np.inf, mean[0], np.inf]
    assert np.isfinite(mean[0])
    assert quantiles[1, 2] < mean[1]


@pytest.mark.slow
def test_parts_of_a_variance_too_large_are_infinite():
    model = ELMIntervalRegressor(random_state=0).fit(X, Y)
    with np.errstate(all="ignore"):
        parts = model.predict_variance(np.full((1, 4), 1e300))
    assert parts.total == np.inf
    assert not any(np.isnan(part).any() for part in parts)
