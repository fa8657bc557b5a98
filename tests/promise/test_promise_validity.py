import math

import numpy as np
import pytest
from scipy.stats import binom
from simulated import CURVES, grid_of, rows, tried, true_risk

from elmband.uncertainty.promise import Grid, Risk, estimate


def at_most(share, repeats):
    """Allow for the spread of a simulation, three standard deviations."""
    return share + 3 * math.sqrt(share * (1 - share) / repeats)


@pytest.mark.slow
@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize("n", [60, 1000])
def test_promises_are_broken_no_more_often_than_said(name, n):
    rng = np.random.default_rng(0)
    grid = grid_of(rng, 400, CURVES[name], size=60)
    risks = {value: true_risk(CURVES[name], value) for value in grid.thresholds}
    broken = 0
    for _ in range(500):
        score, wrong = rows(rng, n, CURVES[name])
        found = tried(Risk.error(wrong), score, grid, limit=0.1)
        broken += found is not None and risks[found.value] > 0.1
    assert broken / 500 <= at_most(0.1, 500)


def test_the_same_simulation_finds_estimates_to_be_no_promises():
    rng = np.random.default_rng(0)
    broken = 0
    for _ in range(200):
        score, wrong = rows(rng, 1000, CURVES["rising"])
        value = estimate(Risk.error(wrong), score, limit=0.1).value
        broken += true_risk(CURVES["rising"], value) > 0.1
    assert broken / 200 > 0.4


@pytest.mark.slow
def test_promises_are_broken_almost_as_often_as_allowed_at_the_limit():
    """A test that never passed would keep every promise."""
    rng = np.random.default_rng(2)
    grid = Grid.of(np.arange(2.0), np.zeros(2, bool), size=1)  # answers every row
    found = [
        tried(Risk.error(rng.random(500) < 0.1), np.zeros(500), grid, limit=0.1)
        for _ in range(1000)
    ]
    broken = np.mean([f is not None for f in found])
    exact = max(c for c in binom.cdf(np.arange(100), 500, 0.1) if c <= 0.1)
    assert broken == pytest.approx(exact, abs=3 * math.sqrt(0.09 / 1000))


@pytest.mark.one_quick
@pytest.mark.parametrize("kind", ["fpr", "fdr"])
def test_promises_about_positive_rows_hold(kind):
    """Rows are positive with a probability u, and called so where that is more than a half."""
    limit = {"fpr": 0.03, "fdr": 0.15}[kind]
    rng = np.random.default_rng(3)
    u = rng.random(1000)
    u = u[u > 0.5]
    grid = Grid.of(np.abs(u - 0.5), rng.random(len(u)) > u, size=100)
    broken = found = 0
    for _ in range(500):
        u = rng.random(800)
        truly, called, score = rng.random(800) < u, u > 0.5, np.abs(u - 0.5)
        result = tried(getattr(Risk, kind)(truly, called), score, grid, limit=limit)
        if result is not None:
            found += 1
            v = max(result.value, 0) + 0.5  # answered as positive from here on
            bad, positive, negative = (1 - v) ** 2 / 2, 1 - v, 0.5
            broken += bad / (negative if kind == "fpr" else positive) > limit
    assert found > 400
    assert broken / 500 <= at_most(0.1, 500)


def photos(rng, n_groups, rate):
    """Draw photos of twenty rows with similar scores: all of them are bad, or none is."""
    groups = np.repeat(np.arange(n_groups), 20)
    score = 0.8 * rng.random(n_groups)[groups] + 0.2 * rng.random(len(groups))
    return score, (rng.random(n_groups) < rate)[groups], groups


@pytest.mark.slow
def test_rows_of_one_photo_break_promises_of_rows_but_not_of_groups():
    rng = np.random.default_rng(4)
    training, bad, _ = photos(rng, 50, 0.1)
    grid = Grid.of(training, bad, size=40)
    by_rows = by_groups = 0
    for _ in range(300):
        score, bad, groups = photos(rng, 80, 0.1 + 1e-9)
        by_rows += tried(Risk.error(bad), score, grid, limit=0.1) is not None
        risk = Risk.error(bad)
        by_groups += tried(risk, score, grid, limit=0.1, groups=groups) is not None
    assert by_rows / 300 > 0.3
    assert by_groups / 300 <= at_most(0.1, 300)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["error", "fpr", "fdr"])
def test_promises_of_groups_hold_with_rates_of_every_size(kind):
    """Groups of 1 to 12 rows have error rates of their own, 0.1 on average for any score."""
    rng = np.random.default_rng(5)
    grid = Grid.of(rng.random(500), rng.random(500) < 0.1, size=30)
    broken = 0
    for _ in range(300):
        groups = np.repeat(np.arange(150), rng.integers(1, 13, 150))
        rate = rng.beta(0.3, 2.7, 150)[groups]
        bad, score = rng.random(len(groups)) < rate, rng.random(len(groups))
        called = np.ones(len(groups), bool)
        # Every row that is bad is called positive and is not, of all that count.
        risk = Risk.error(bad) if kind == "error" else Risk.fdr(~bad, called)
        if kind == "fpr":
            risk = Risk.fpr(np.zeros_like(bad), bad)
        found = tried(risk, score, grid, limit=0.1, groups=groups)
        # The rate at a threshold is 0.1 for answered rows, and its share of that for all rows.
        broken += found is not None and (kind != "fpr" or found.value <= 0)
    assert broken / 300 <= at_most(0.1, 300)


def test_promises_find_most_of_what_there_is_to_be_found():
    """The risk is at most 5 % for the 55 % most certain rows."""
    rng = np.random.default_rng(8)
    grid = grid_of(rng, 2000, CURVES["rising"])
    best = grid.shares[[true_risk(CURVES["rising"], v) <= 0.05 for v in grid.thresholds]].max()
    for n, part in [(300, 0.25), (3000, 0.75), (30_000, 0.92)]:
        found = [
            tried(Risk.error(wrong), score, grid, limit=0.05)
            for score, wrong in (rows(rng, n, CURVES["rising"]) for _ in range(50))
        ]
        assert np.mean([f.answered if f else 0 for f in found]) > part * best


def test_promises_get_past_certain_rows_that_are_bad():
    """A single walk would end at its first step."""
    rng = np.random.default_rng(9)
    curve = CURVES["worst where most certain"]
    grid = grid_of(rng, 2000, curve)
    found = [
        tried(Risk.error(wrong), score, grid, limit=0.15)
        for score, wrong in (rows(rng, 5000, curve) for _ in range(50))
    ]
    assert np.mean([f is not None for f in found]) > 0.9


@pytest.mark.slow
def test_promises_of_weighted_rows_hold():
    """Rows that are wrong more often weigh more: the weighted share is a tenth."""
    rng = np.random.default_rng(10)
    grid = Grid.of(rng.random(500), rng.random(500) < 0.1, size=20)
    broken = 0
    for _ in range(300):
        heavy = rng.random(400) < 0.2
        s = np.where(heavy, 4.0, 1.0)
        # (0.2·4·0.16 + 0.8·1·0.04) / (0.2·4 + 0.8·1) = 0.1
        wrong = rng.random(400) < np.where(heavy, 0.16, 0.04) + 1e-9
        found = tried(Risk.error(wrong), rng.random(400), grid, limit=0.1, sample_weight=s)
        broken += found is not None
    assert broken / 300 <= at_most(0.1, 300)


def made_and_broken(rng, curve, n, limit, times):
    """Return shares of promises that were made, and of all times that one was broken."""
    made = broken = 0
    for _ in range(times):
        grid = grid_of(rng, 400, curve)
        score, wrong = rows(rng, n, curve)
        found = tried(Risk.error(wrong), score, grid, limit=limit)
        made += found is not None
        broken += found is not None and true_risk(curve, found.value) > limit
    return made / times, broken / times


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "least"), [("rising", 0.95), ("at the limit if all are answered", 0.95)]
)
def test_five_hundred_rows_make_most_promises_and_break_few(name, least):
    made, broken = made_and_broken(np.random.default_rng(11), CURVES[name], 500, 0.1, 200)
    assert made >= least
    assert broken <= 0.1 + 2 * math.sqrt(0.09 / 200)


def spoilt(rng, n_groups):
    """Draw photos, a fiftieth of which are all wrong and among the most certain ones."""
    groups = np.repeat(np.arange(n_groups), 20)
    bad = (rng.random(n_groups) < 0.02)[groups]
    score = np.where(bad, 0.9, 0.0) + rng.random(len(groups)) * np.where(bad, 0.1, 1.0)
    return score, bad, groups


@pytest.mark.slow
def test_a_few_bad_groups_among_the_most_certain_do_not_hide_what_can_be_promised():
    """At strict thresholds bad groups are a fifth of those there, at loose ones a fiftieth."""
    rng = np.random.default_rng(10)
    grid = grid_of(rng, 2000, lambda u: np.where(u > 0.97, 0.0, 0.02))
    made = [
        tried(Risk.error(bad), score, grid, limit=0.06, groups=groups)
        for score, bad, groups in (spoilt(rng, 400) for _ in range(40))
    ]
    assert np.mean([found is not None for found in made]) >= 0.8
