"""Weights and groups: only ratios of weights matter, and groups are left out whole."""

import numpy as np
import pytest
from kinds import biased_draw, in_groups, plain

from elmband import ELMClassifier, ELMIntervalRegressor
from elmband.metrics import picp

SEEDS = 12
WEIGHTS = {
    "uniform": lambda rng, n: rng.uniform(0, 2, n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "exponential, small": lambda rng, n: 1e-3 * rng.exponential(size=n),
    "exponential, large": lambda rng, n: 1e3 * rng.exponential(size=n),
    "one or ten": lambda rng, n: rng.choice([1.0, 10.0], n),
    "half are zero": lambda rng, n: rng.integers(0, 2, n).astype(float),
}


def _fitted(seed, X, y, **rows):
    return ELMIntervalRegressor(random_state=seed).fit(X, y, **rows)


@pytest.mark.slow
@pytest.mark.parametrize("weight", [1e-12, 1e-3, 0.1, 1.1, 7.0, 1e3, 1e12])
def test_a_weight_for_all_rows_changes_nothing(weight):
    """Bounds agree to a thousandth of a width: choices of strengths see rounding."""
    rng = np.random.default_rng(0)
    (X, y), (new, _) = plain(rng, 200), plain(rng, 100)
    expected = _fitted(0, X, y).predict_interval(new, 0.9)
    found = _fitted(0, X, y, sample_weight=np.full(200, weight)).predict_interval(new, 0.9)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3 * np.median(np.diff(expected)))


@pytest.mark.parametrize("weight", [1e-3, 7.0])
def test_a_weight_for_all_rows_does_not_change_probabilities(weight):
    rng = np.random.default_rng(0)
    (X, y), (new, _) = plain(rng, 200), plain(rng, 100)
    expected = ELMClassifier(random_state=0).fit(X, y > 0.3).predict_proba(new)
    model = ELMClassifier(random_state=0).fit(X, y > 0.3, sample_weight=np.full(200, weight))
    np.testing.assert_allclose(model.predict_proba(new), expected, rtol=0, atol=1e-3)


def _random_weights(name, seeds):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        (X, y), (new, truth) = plain(rng, 300), plain(rng, 2000)
        model = _fitted(seed, X, y, sample_weight=WEIGHTS[name](rng, 300))
        yield picp(truth, model.predict_interval(new, 0.9))


@pytest.mark.slow
@pytest.mark.parametrize("name", WEIGHTS)
def test_random_weights_leave_coverage_about_as_it_is(name):
    """Half of the rows count, so that coverage of a fit varies by 3 points."""
    assert np.mean(list(_random_weights(name, range(3)))) == pytest.approx(0.9, abs=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        # Two that differ from another by a factor only, of which nothing depends.
        pytest.param(name, marks=pytest.mark.long if name.startswith("exponential,") else ())
        for name in WEIGHTS
    ],
)
def test_random_weights_leave_coverage_as_it_is(name):
    assert np.mean(list(_random_weights(name, range(SEEDS)))) == pytest.approx(0.9, abs=0.03)


@pytest.mark.slow
def test_weights_undo_a_biased_draw():
    """Coverage of all rows as weighted, and of each side, where noise differs five times."""
    covered = []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        X, y, weight = biased_draw(rng, 300)
        new, truth, share = biased_draw(rng, 2000)
        interval = _fitted(seed, X, y, sample_weight=weight).predict_interval(new, 0.9)
        seldom = share == 1
        covered.append(
            [
                picp(truth, interval, sample_weight=share),
                picp(truth[seldom], interval[seldom]),
                picp(truth[~seldom], interval[~seldom]),
            ]
        )
    everywhere, *sides = np.mean(covered, axis=0)
    assert everywhere == pytest.approx(0.9, abs=0.03)
    assert sides == pytest.approx([0.9, 0.9], abs=0.08)


def _new_groups(seeds, *, told=True):
    for seed in seeds:
        rng = np.random.default_rng(seed)
        X, y, groups = in_groups(rng, 300)
        new, truth, _ = in_groups(rng, 2000)
        rows = {"groups": groups} if told else {}
        yield picp(truth, _fitted(seed, X, y, **rows).predict_interval(new, 0.9))


@pytest.mark.slow
def test_new_groups_are_about_covered():
    """Sixty groups are as sixty rows: coverage of a fit varies by 5 points."""
    assert np.mean(list(_new_groups(range(4)))) == pytest.approx(0.9, abs=0.08)


@pytest.mark.long
def test_new_groups_are_covered():
    """The mean of 24 fits varies by 1 point, and multipliers of 60 groups may be off by 2."""
    assert np.mean(list(_new_groups(range(24)))) == pytest.approx(0.9, abs=0.04)


@pytest.mark.slow
def test_the_attack_by_groups_is_one():
    """Rows alike within groups, left out one by one, flatter their model: else nothing is shown."""
    assert np.mean(list(_new_groups(range(2), told=False))) < 0.75
