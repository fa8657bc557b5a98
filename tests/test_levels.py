"""Levels of rows: marks and bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.ground.arrays import to_numpy
from elmband.stacks.levels import BinLevels, MarkLevels
from elmband.uncertainty.local_fit.columns import _date_edges

EDGES = np.array([0.0, 1.0, 2.5, 4.0])


def test_marks_tell_the_level_and_rows_without_one_have_none():
    X = np.array([[9.0, 1, 0, 0], [9, 0, 0, 1], [9, 0, 0, 0], [9, 0.2, 0.5, 0.3]])
    assert MarkLevels(1, 4).places(X).tolist() == [0, 2, 3, 3]


@given(st.floats(-2, 6) | st.sampled_from([*EDGES, np.inf, -np.inf, np.nan]))
def test_bins_are_those_of_a_naive_search(x):
    naive = [k for k in range(3) if EDGES[k] <= x < EDGES[k + 1]] or [2 if x == 4.0 else 3]
    assert BinLevels(0, EDGES).places(np.array([[x]])).tolist() == naive


def test_levels_are_the_same_on_other_array_libraries(xp):
    X = np.array([[0.5, 1, 0], [4.0, 0, 1], [7.0, 0, 0], [-1.0, 1, 0]])
    for levels in (BinLevels(0, EDGES), MarkLevels(1, 3)):
        found = to_numpy(levels.places(xp.asarray(X)))
        assert found.tolist() == levels.places(X).tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: BinLevels(0, np.array([1.0])),
        lambda: BinLevels(0, np.array([1.0, 1.0])),
        lambda: BinLevels(-1, EDGES),
        lambda: MarkLevels(2, 2),
        lambda: MarkLevels(-1, 2),
    ],
)
def test_levels_that_cannot_be_are_refused(make):
    with pytest.raises(ValueError, match=r"edges|columns"):
        make()


def test_dates_are_cut_where_days_begin():
    days = _date_edges(2000.0, 2002.0, "D")
    assert len(days) == 366 + 365 + 2
    assert (np.diff(days) > 0).all()
    # The first of March of a leap year is its 61st day.
    assert days[60] == pytest.approx(2000 + 60 / 366, abs=1e-9)
    weeks, months = (_date_edges(2000.0, 2002.0, unit) for unit in "WM")
    assert len(months) == 26
    assert 104 <= len(weeks) - 1 <= 107


@pytest.mark.parametrize("ends", [(-np.inf, np.inf), (0.0, 1.0), (1.0, 9000.0)])
def test_dates_that_cannot_be_cut_are_left_alone(ends):
    assert len(_date_edges(*ends, "D")) == 0
