import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.uncertainty.promise import Grid
from elmband.uncertainty.promise.grid import PRIOR_ROWS
from elmband.uncertainty.promise.held_out import (
    divergence,
    expected_of_pilots,
    most_telling,
    pilot_groups,
)

rows = st.lists(st.tuples(st.integers(-20, 20).map(float), st.booleans()), max_size=60)


@given(rows, st.integers(1, 40))
def test_thresholds_are_scores_and_know_the_rows_that_reach_them(rows, size):
    score, bad = np.array([r[0] for r in rows]), np.array([r[1] for r in rows], bool)
    grid = Grid.of(score, bad, size=size)
    assert len(grid.thresholds) <= max(size, 1)
    assert set(grid.thresholds[:-1]) <= set(score)
    assert (grid.thresholds[-1], grid.shares[-1]) == (-math.inf, 1)
    for threshold, n, n_bad in zip(grid.thresholds, grid.rows, grid.bad, strict=True):
        assert (n, n_bad) == (np.sum(score >= threshold), np.sum(bad[score >= threshold]))


def test_thresholds_are_closest_where_few_rows_are_answered():
    grid = Grid.of(np.random.default_rng(0).normal(size=100_000), np.zeros(100_000, bool))
    assert len(grid.thresholds) > 180
    assert grid.shares[0] == pytest.approx(1e-5)
    assert np.diff(grid.shares).max() < 0.0102
    assert 40 < np.sum(grid.shares < 0.01) < 80


def test_risks_are_half_the_limit_until_rows_tell_otherwise():
    grid = Grid(np.array([2.0, 1.0, 0.0]), np.array([0.0, 20, 20_000]), np.array([0.0, 0, 4000]))
    expected = [0.05, 0.05 * PRIOR_ROWS / (PRIOR_ROWS + 20), 0.2]
    np.testing.assert_allclose(grid.risks(0.1), expected, rtol=1e-3)


def test_evidence_is_the_divergence_of_coins():
    p = np.array([0.0, 0.02, 0.1, 0.3])
    expected = [-math.log(0.9), 0.02 * math.log(0.2) + 0.98 * math.log(0.98 / 0.9), 0, 0]
    np.testing.assert_allclose(divergence(p, 0.1), expected, atol=1e-12)


def curved(n, risk):
    """Make a grid of training rows whose risk rises with the share that is answered."""
    score = -np.arange(n) / n
    return Grid.of(score, np.random.default_rng(0).random(n) < risk(-score))


def test_tests_begin_where_rows_tell_most():
    steep, flat = (
        curved(20_000, lambda share: share),
        curved(20_000, lambda share: 0.02 + 0 * share),
    )
    for available in (100, 10_000):
        start = most_telling(available * steep.shares, steep.risks(0.1), 0.1)
        # The risk of a share a is a/2: a·KL(a/2, 0.1) is largest at 0.05.
        assert steep.shares[start] == pytest.approx(0.05, abs=0.02)
        start = most_telling(available * flat.shares, flat.risks(0.1), 0.1)
        assert flat.shares[start] > 0.95


def test_pilot_groups_are_some_of_the_groups_whatever_is_measured():
    some = pilot_groups(np.arange(100, 260))
    assert len(set(some.tolist())) == 20
    assert set(some.tolist()) <= set(range(100, 260))


def test_pilot_groups_tell_how_many_are_there_and_how_bad_they_are():
    rates = [np.zeros(0), np.array([0.5]), np.array([0.5, 0.0, 1.0])]
    found = expected_of_pilots(iter(rates), 3, np.array([0.05, 0.05, 0.1]))
    np.testing.assert_allclose(found.shares, [1 / 5, 2 / 5, 4 / 5])
    # Training rows count as twenty groups.
    np.testing.assert_allclose(found.risks, [1 / 20, 1.5 / 21, 3.5 / 23])


def test_grids_have_numbers_for_every_threshold():
    two, one, none = np.array([2.0, 1.0]), np.array([0.5]), np.zeros(0)
    with pytest.raises(ValueError, match="give one number of both for every threshold"):
        Grid(two, one, one)
    with pytest.raises(ValueError, match="one at least"):
        Grid(none, none, none)
    with pytest.raises(ValueError, match="have to fall"):
        Grid(np.ones(2), np.array([0.5, 1.0]), np.zeros(2))
    with pytest.raises(ValueError, match="score has 2 rows, bad has 1"):
        Grid.of(two, [True])


def test_infinite_scores_are_answered_by_every_threshold():
    grid = Grid.of([math.inf, math.inf, 1.0, -math.inf], np.zeros(4, bool))
    assert grid.thresholds.tolist() == [1, -math.inf]
    assert grid.shares.tolist() == [0.75, 1]
