"""Copies of rows become one row with the sum of their weights."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.ground.arrays import to_numpy
from elmband.sums.copies import merged_copies, takes_few_values
from elmband.sums.moments import Chunk

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 20))
Y = RNG.standard_normal((40, 1))


def by_hand(X, Y, s):
    """Return distinct rows in the order of the first, with sums of weights, one by one."""
    found = {}
    for x, y, weight in zip(X.tolist(), Y.tolist(), s, strict=True):
        key = (*x, *y)
        found[key] = found.get(key, 0.0) + weight
    return np.array(list(found)), np.array(list(found.values()))


@given(st.lists(st.integers(0, 39), min_size=2, max_size=80))
def test_rows_are_merged_as_by_hand(index):
    s = np.arange(1.0, 1 + len(index))
    rows = merged_copies(Chunk(X[index], Y[index], s))
    expected, weights = by_hand(X[index], Y[index], s)
    if takes_few_values(len(index), len(expected), len(expected)):
        assert len(rows.X) == len(index)
        return
    np.testing.assert_array_equal(np.hstack([rows.X, rows.Y]), expected)
    if len(expected) < len(index):
        np.testing.assert_array_equal(rows.s, weights)


def test_rows_without_copies_are_returned_as_they_are():
    rows = Chunk(X, Y, None)
    assert merged_copies(rows) is rows


def test_equal_inputs_with_other_targets_are_no_copies():
    rows = merged_copies(Chunk(X[[0, 0, 1, 1, 2]], Y[[0, 1, 2, 2, 3]], None))
    assert rows.s.tolist() == [1, 1, 2, 1]


@pytest.mark.parametrize("column", [0, 15, 16, 19])
def test_a_single_column_tells_rows_apart(column):
    """Columns are compared sixteen at a time, and only of rows that are equal so far."""
    twins = np.repeat(X, 2, axis=0)
    y = np.repeat(Y, 2, axis=0)
    twins[1, column] += 1e-12
    merged = merged_copies(Chunk(twins, y, None))
    assert len(merged.X) == 41
    assert merged.s.tolist() == [1, 1] + [2] * 39


def test_both_zeros_are_one_number():
    rows = Chunk(np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 3.0]]), np.zeros((3, 1)), None)
    assert merged_copies(rows).s.tolist() == [2, 1]


def test_whole_numbers_do_not_collide():
    grid = np.stack(np.meshgrid(*[np.arange(40.0)] * 3), axis=-1).reshape(-1, 3)
    rows = Chunk(grid, np.zeros((len(grid), 1)), None)
    assert merged_copies(rows) is rows


@pytest.mark.parametrize("targets", [2, 1000])
def test_inputs_that_take_few_values_are_no_copies(targets):
    levels = RNG.integers(0, 4, size=(500, 1)).astype(float)
    y = RNG.integers(0, targets, size=(500, 1)).astype(float)
    rows = Chunk(levels, y, None)
    assert merged_copies(rows) is rows


def test_every_library_gives_the_same(xp):
    index = np.r_[np.arange(40), np.arange(10)]
    rows = merged_copies(Chunk(xp.asarray(X[index]), xp.asarray(Y[index]), None))
    np.testing.assert_array_equal(to_numpy(rows.X), X)
    assert to_numpy(rows.s).tolist() == [2] * 10 + [1] * 30
