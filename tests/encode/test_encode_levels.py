"""How many levels have a feature of their own, and what is said of the others."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.sources.encode import TableEncoder
from elmband.sources.encode.levels import most_levels


def of_levels(count, rows=12):
    """So many levels of as many rows each."""
    names = np.repeat([f"level {k:04}" for k in range(count)], rows)
    return pd.DataFrame({"x": names, "k": np.arange(len(names))})


def marks(table, **parameters):
    encoder = TableEncoder(**parameters).fit(table)
    return len(encoder.state_.columns[0].levels), encoder


@pytest.mark.parametrize(
    ("levels", "rows", "kept"),
    [(142, 12, 142), (50, 5, 50), (51, 5, 50), (90, 10, 90), (90, 9, 81), (700, 12, 300)],
)
def test_all_frequent_levels_up_to_a_tenth_of_the_rows(levels, rows, kept):
    assert marks(of_levels(levels, rows))[0] == kept
    # A number means what it always meant.
    assert marks(of_levels(levels, rows), max_levels=50)[0] == 50


def test_the_columns_with_most_levels_are_cut_first():
    table = of_levels(160).assign(
        y=lambda t: np.resize([f"y {k}" for k in range(150)], len(t)),
        z=lambda t: np.resize([f"z {k}" for k in range(20)], len(t)),
    )
    encoder = TableEncoder().fit(table)
    # A tenth of 1,920 rows is 192: 20 for z, and what is left for the two others.
    assert [len(encoder.state_.columns[k].levels) for k in (0, 2, 3)] == [86, 86, 20]


@given(st.lists(st.integers(0, 3000), max_size=8), st.floats(1, 1e6))
def test_features_stay_within_the_room(frequent, n_rows):
    most = most_levels(frequent, n_rows)
    kept = [min(count, most) for count in frequent]
    assert most >= 50
    if most > 50:
        assert sum(kept) <= min(n_rows / 10, 300)
    # Nothing that fits is merged.
    if sum(frequent) <= min(n_rows / 10, 300):
        assert kept == frequent
    elif most > 50:
        cut = sum(count > most for count in frequent)
        assert sum(kept) > min(n_rows / 10, 300) - cut


def told(encoder):
    return [note.sentence(options=True) for note in encoder.state_.notes if note.told]


def test_levels_that_are_merged_are_told_of():
    _, encoder = marks(of_levels(142), max_levels=50)
    (sentence,) = told(encoder)
    assert sentence == (
        "'x' has 92 of 142 levels that are rare or too many and share one mark; --max-levels 142 "
        "gives 92 more their own."
    )
    assert "50 of 142 levels, other; 92 more levels have at least 5 rows" in encoder.summary()
    assert (
        "141 of 142 levels, other; 1 more level has"
        in marks(of_levels(142), max_levels=141)[1].summary()
    )
    assert marks(of_levels(142), max_levels=142)[0] == 142
    _, rare = marks(pl.DataFrame({"x": [*"aaaaabbbbbbc"], "k": range(12)}))
    assert told(rare) == ["'x' has 1 of 3 levels in fewer than 2 rows each, which share one mark."]
    assert "x  text     2 of 3 levels, other\n" in rare.summary()
    assert told(marks(of_levels(142))[1]) == []


def test_new_levels_are_other_ones_where_the_rule_leaves_many_out():
    _, encoder = marks(of_levels(142), max_levels=50)
    new = pd.DataFrame({"x": ["new", "level 0141", "level 0000"], "k": [0, 0, 0]})
    assert encoder.unseen(new) == {}
    X = encoder.transform(new)
    assert X[:, 50].tolist() == [1, 1, 0]
    _, most = marks(of_levels(142), max_levels=100)
    assert most.unseen(new) == {"x": 1}


def test_the_default_is_kept_and_may_be_given_by_name():
    table = of_levels(142)
    assert TableEncoder("auto").fit(table).state_ == TableEncoder().fit(table).state_
    assert TableEncoder.from_state(TableEncoder().fit(table).state_).max_levels == "auto"
