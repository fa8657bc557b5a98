import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.promise import Grid

scores = st.lists(st.integers(-20, 20).map(float), max_size=60)


@given(scores, st.integers(1, 40))
def test_thresholds_are_scores_and_shares_are_what_reaches_them(score, size):
    grid = Grid.of(score, size=size)
    assert len(grid.thresholds) <= max(size, 1)
    assert set(grid.thresholds[:-1]) <= set(score)
    assert (grid.thresholds[-1], grid.shares[-1]) == (-math.inf, 1)
    for threshold, share in zip(grid.thresholds[:-1], grid.shares[:-1], strict=True):
        assert share == pytest.approx(np.mean(np.array(score) >= threshold))


@given(st.lists(st.tuples(st.integers(-9, 9), st.sampled_from("abcd")), min_size=1, max_size=40))
def test_shares_of_groups_are_those_with_a_row_that_is_answered(rows):
    score, groups = np.array([float(r[0]) for r in rows]), np.array([r[1] for r in rows])
    grid = Grid.of(score, groups=groups)
    for threshold, share in zip(grid.thresholds, grid.shares, strict=True):
        reached = [(score[groups == g] >= threshold).any() for g in set(groups)]
        assert share == pytest.approx(np.mean(reached))


def test_thresholds_are_closest_where_few_rows_are_answered():
    grid = Grid.of(np.random.default_rng(0).normal(size=100_000))
    assert len(grid.thresholds) > 180
    assert grid.shares[0] == pytest.approx(1e-5)
    assert np.diff(grid.shares).max() < 0.0102
    assert 40 < np.sum(grid.shares < 0.01) < 80


@given(st.integers(0, 10**6), st.integers(1, 2000))
def test_walks_begin_where_rows_are_enough_and_well_apart(available, needed):
    grid = Grid.of(np.random.default_rng(0).normal(size=20_000))
    starts = grid.starts(available, needed)
    expected = available * grid.shares[starts]
    assert 1 <= len(starts) <= 6
    if available >= needed:
        assert np.all(expected >= needed * (1 - 1e-9))
    if available < 9 * needed:
        assert len(starts) == 1
    if available >= 27 * needed:
        assert len(starts) >= 2
    # Training scores are not fine enough for shares much smaller than this.
    if 27e-3 < 27 * needed / max(available, 1) <= 1:
        assert 3 * needed * (1 - 1e-9) <= expected[0] <= 3.5 * needed


def test_few_rows_begin_with_the_loosest_threshold():
    grid = Grid.of(np.arange(100.0))
    assert grid.starts(45, 45).tolist() == [len(grid.shares) - 2]  # all training rows reach it
    assert grid.starts(0, 45).tolist() == [len(grid.shares) - 1]


def test_grids_have_one_share_for_every_threshold():
    with pytest.raises(ValueError, match="give one share for every threshold"):
        Grid(np.array([2.0, 1.0]), np.array([0.5]))
    with pytest.raises(ValueError, match="at least one of both"):
        Grid(np.zeros(0), np.zeros(0))
    with pytest.raises(ValueError, match="have to fall"):
        Grid(np.array([1.0, 1.0]), np.array([0.5, 1.0]))


def test_infinite_scores_are_answered_by_every_threshold():
    grid = Grid.of([math.inf, math.inf, 1.0, -math.inf])
    assert grid.thresholds.tolist() == [1, -math.inf]
    assert grid.shares.tolist() == [0.75, 1]
