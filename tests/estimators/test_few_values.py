"""Inputs that take few values: equal rows are then no copies of each other."""

import numpy as np
import pytest

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.metrics import picp


def _levels(rng, n):
    return rng.integers(0, 3, n)


TARGETS = {
    "unrelated": lambda rng, k: 2 * rng.normal(size=len(k)),
    "far apart": lambda rng, k: 10 * k + rng.normal(size=len(k)),
    "counts": lambda rng, k: rng.poisson(2 + 2 * k).astype(float),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_intervals_of_three_categories_cover_as_many_rows_as_they_should(name):
    """On average over five fits of 300 rows; before, it was all or less than half."""
    found, sizes = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        train, test = _levels(rng, 300), _levels(rng, 3000)
        y, new = TARGETS[name](rng, train), TARGETS[name](rng, test)
        model = ELMIntervalRegressor(random_state=seed).fit(np.eye(3)[train], y)
        found.append(picp(new, model.predict_interval(np.eye(3)[test], 0.9)))
        _, std = model.predict(np.eye(3), return_std=True)
        sizes.append(np.mean(std / [new[test == k].std() for k in range(3)]))
    assert np.mean(found) == pytest.approx(0.9, abs=0.03)
    assert np.min(found) > 0.8
    assert np.mean(sizes) == pytest.approx(1.0, abs=0.06)


def test_a_class_that_is_a_coin_is_never_certain():
    """What is said of a row left out must not tell its class, else thresholds would find it."""
    rng = np.random.default_rng(0)
    X = (np.arange(60.0) % 2)[:, None]
    model = ELMSelectiveClassifier({"linear": 1}, max_error=0.01, random_state=0)
    model.fit(X, rng.random(60) < 0.5)
    assert not model.accept(X).any()


@pytest.mark.slow
def test_copies_are_still_left_out_together():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = X[:, 0] + rng.normal(size=60)
    once, twice = (
        ELMIntervalRegressor(20, random_state=0).fit(np.tile(X, (k, 1)), np.tile(y, k))
        for k in (1, 2)
    )
    weighted = ELMIntervalRegressor(20, random_state=0).fit(X, y, sample_weight=np.full(60, 2.0))
    expected = weighted.predict_interval(X, 0.9)
    np.testing.assert_allclose(twice.predict_interval(X, 0.9), expected, atol=1e-4)
    width = np.diff(once.predict_interval(X, 0.9)).mean()
    assert np.diff(expected).mean() == pytest.approx(width, rel=0.1)


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(2)
    k = _levels(rng, 200)
    y = rng.poisson(2 + k).astype(float)
    order = rng.permutation(200)
    one, other = (
        ELMIntervalRegressor(10, random_state=0).fit(np.eye(3)[i], v).predict_interval(np.eye(3))
        for i, v in ((k, y), (k[order], y[order]))
    )
    np.testing.assert_allclose(one, other, rtol=1e-6)
