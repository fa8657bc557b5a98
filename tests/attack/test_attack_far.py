"""Rows unlike those of the training: rare marks, new levels, inputs far away."""

import functools

import numpy as np
import pandas as pd
import pytest
from attacked import absurd
from kinds import plain
from marks import marked, towns, with_marks

from elmband import ELMIntervalRegressor
from elmband.metrics import picp
from elmband.sources.encode import TableEncoder

MARKS = [
    pytest.param(scale, shift, seed, marks=[] if seed < 2 else pytest.mark.long)
    for scale in ("plain", "skewed", "log1p")
    for shift in (0.0, 8.0)
    for seed in range(5)
]


def _raised(y, scale):
    return np.exp(y) if scale != "plain" else y


@pytest.mark.slow
@pytest.mark.parametrize(("scale", "shift", "seed"), MARKS)
def test_a_mark_of_two_rows_in_10000_gives_no_absurd_mean(scale, shift, seed):
    """The targets of marked rows are like others, or moved by four standard deviations."""
    rng = np.random.default_rng(seed)
    X, y = marked(rng, 10_000, shift)
    y = _raised(y, scale)
    transform = {"target_transform": "log1p"} if scale == "log1p" else {}
    model = ELMIntervalRegressor(random_state=seed, **transform).fit(X, y)
    for every in (False, True):
        new, _ = with_marks(rng, 60, every=every)
        mean, interval = model.predict(new, confidence_level=0.9)
        assert np.isfinite(mean).all()
        assert np.isfinite(interval).all()
        assert absurd(mean, interval, y).sum() == 0
        # Even where intervals say so: means of ten and widths of a thousand times the range.
        farthest = np.abs(mean - np.median(y)).max() / np.ptp(y)
        assert farthest < 10
        widest = np.diff(interval).max() / np.ptp(y)
        assert widest < 1000


@pytest.mark.slow
@pytest.mark.parametrize("scale", ["plain", "skewed", "log1p"])
def test_marks_that_mean_nothing_do_not_spoil_coverage(scale):
    """Two rows tell little about a mark: a band of 10 points below, and any above."""
    covered = []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X, y = marked(rng, 2000)
        new, truth = with_marks(rng, 300)
        transform = {"target_transform": "log1p"} if scale == "log1p" else {}
        model = ELMIntervalRegressor(random_state=seed, **transform).fit(X, _raised(y, scale))
        covered.append(picp(_raised(truth, scale), model.predict_interval(new, 0.9)))
    assert np.mean(covered) > 0.8


def _new_towns(seed, known, rare=0, size=3.0):
    """Return coverage of towns that the fit knew, of new ones, and new widths over known ones."""
    rng = np.random.default_rng(seed)
    effect = size * rng.normal(size=1000)
    table, y = towns(rng, effect, np.arange(known), 600)
    if rare:
        few, more = towns(rng, effect, np.arange(400, 400 + rare), 2 * rare)
        table, y = pd.concat([table, few]), np.concatenate([y, more])
    old, old_truth = towns(rng, effect, np.arange(known), 1000)
    new, new_truth = towns(rng, effect, np.arange(500, 1000), 1000)
    encoder = TableEncoder().fit(table)
    model = ELMIntervalRegressor(random_state=seed).fit(encoder.transform(table), y)
    at_old = model.predict_interval(encoder.transform(old), 0.9)
    mean, at_new = model.predict(encoder.transform(new), confidence_level=0.9)
    assert np.isfinite(at_new).all()
    # As far beyond the targets as means of any rows may go, which new numbers beside a town do.
    step = 0.101 * np.ptp(y)
    assert y.min() - step <= mean.min() <= mean.max() <= y.max() + step
    width = np.median(np.diff(at_new)) / np.median(np.diff(at_old))
    return picp(old_truth, at_old), picp(new_truth, at_new), width


@pytest.mark.slow
def test_new_levels_are_covered_as_rare_ones_are():
    """Of 200 towns in 600 rows more than 50 have no feature, and a new town is one of these.

    Its effect was drawn like theirs. Towns miss as a whole, so coverage varies by 4 points.
    """
    known, new, _ = np.mean([_new_towns(seed, 200) for seed in range(5)], axis=0)
    assert 0.86 < known < 0.94
    assert 0.83 < new < 0.97


@pytest.mark.slow
@pytest.mark.parametrize(("n_known", "rare"), [(8, 0), (30, 0), (8, 2)])
def test_a_new_level_beside_frequent_ones_is_covered(n_known, rare):
    """Nothing tells the effect of a ninth town but the spread of eight: 19 % without it.

    The spread of eight towns is off by a quarter, so that coverage of a draw varies by 8 points
    and the mean of eight by 3. Two rare towns share a mark, and a new one is none of them.
    """
    found = [_new_towns(seed, n_known, rare) for seed in range(8)]
    known, new, width = np.mean(found, axis=0)
    assert 0.86 < known < 0.94
    assert 0.82 < new < 0.98
    assert width > 3


@pytest.mark.slow
def test_a_third_level_is_covered_by_wide_intervals():
    """Two towns tell next to nothing of a third; without their spread 46 % are covered."""
    _, new, width = np.mean([_new_towns(seed, 2) for seed in range(8)], axis=0)
    assert new > 0.75
    assert width > 20


@pytest.mark.slow
def test_a_new_level_of_a_category_that_does_not_matter_costs_little():
    found = [_new_towns(seed, 8, size=0.0) for seed in range(6)]
    known, new, width = np.mean(found, axis=0)
    assert 0.86 < known < 0.94
    assert 0.86 < new < 0.98
    assert width < 1.5


@functools.cache
def _fitted(seed):
    X, y = plain(np.random.default_rng(seed), 300)
    return X, y, ELMIntervalRegressor(random_state=seed).fit(X, y)


@pytest.mark.slow
@pytest.mark.parametrize("distance", [10.0, 1e3, 1e6, 1e12])
def test_far_rows_are_uncertain(distance):
    """The target is between -1 and 1 along the first input: no line leads out of it."""
    directions = np.array([[1.0, 0.0], [-1.0, 0.0]])
    for seed in range(4):
        X, y, model = _fitted(seed)
        mean, interval = model.predict(distance * directions, confidence_level=0.9)
        assert np.isfinite(mean).all()
        assert np.isfinite(interval).all()
        assert absurd(mean, interval, y).sum() == 0
        assert (np.diff(interval) > 2 * np.median(np.diff(model.predict_interval(X, 0.9)))).all()


@pytest.mark.one_quick
@pytest.mark.parametrize("distance", [1e100, 1e300])
def test_rows_at_the_end_of_numbers_have_a_mean_and_an_interval_that_holds_it(distance):
    _, _, model = _fitted(0)
    mean, interval = model.predict(np.array([[distance, -distance]]), confidence_level=0.9)
    assert np.isfinite(mean).all()
    assert (interval[:, 0] <= mean).all()
    assert (mean <= interval[:, 1]).all()
