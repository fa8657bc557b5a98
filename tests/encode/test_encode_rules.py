"""Which levels and columns are kept, under which names, and what new values become."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixed import mixed

from elmband import scan
from elmband.sources.encode import TableEncoder


def repeated(**counts):
    """Text with as many rows of each level, and a number that varies."""
    values = [level for level, count in counts.items() for _ in range(count)]
    return pl.DataFrame({"x": values, "k": range(len(values))})


def names(table, **parameters):
    return TableEncoder(**parameters).fit(table).get_feature_names_out().tolist()


@pytest.mark.one_quick
@pytest.mark.parametrize(
    ("n_rows", "least"),
    [(4, 2), (20, 2), (21, 3), (49, 5), (50, 5), (5000, 5), (5001, 6), (3_000_000, 3000)],
)
def test_frequent_is_a_thousandth_of_the_rows(n_rows, least):
    common = n_rows - 2 * least + 1
    table = repeated(common=common, enough=least, rare=least - 1)
    encoder = TableEncoder().fit(table)
    assert encoder.state_.min_count == least
    kept = ["x=common"] * (common >= least) + ["x=enough", "x=other"]
    assert encoder.get_feature_names_out().tolist() == [*kept, "k"]


def test_levels_are_ordered_by_count_and_then_by_name():
    table = repeated(b=3, a=3, d=5, c=1, e=2)
    assert names(table, min_count=1)[:-1] == ["x=d", "x=a", "x=b", "x=e", "x=c"]
    assert names(table, min_count=2)[:-1] == ["x=d", "x=a", "x=b", "x=e", "x=other"]
    assert names(table, max_levels=2)[:-1] == ["x=d", "x=a", "x=other"]
    assert names(table, min_count=2.5)[:-1] == ["x=d", "x=a", "x=b", "x=other"]


def test_columns_without_anything_to_learn_from_are_left_out():
    table = pl.DataFrame(
        {
            "name": [f"row {k}" for k in range(20)],
            "same": ["a"] * 20,
            "constant": [3.5] * 20,
            "nothing": [None] * 20,
            "same_or_not": ["a", None] * 10,
            "constant_or_not": [1, None] * 10,
            "name_or_not": [None] * 10 + [f"row {k}" for k in range(10)],
            "x": range(20),
        }
    )
    encoder = TableEncoder().fit(table)
    assert encoder.get_feature_names_out().tolist() == [
        "same_or_not=a",
        "same_or_not=missing",
        "constant_or_not=missing",
        "name_or_not=missing",
        "x",
    ]
    assert encoder.dropped_ == {
        "name": "none of its levels has 2 rows",
        "same": "it is constant",
        "constant": "it is constant",
        "nothing": "it has no values",
    }
    X = encoder.transform(table)
    np.testing.assert_array_equal(X[:, 2], [0, 1] * 10)
    np.testing.assert_array_equal(X[:, 3], [1] * 10 + [0] * 10)
    new = table.with_columns(name_or_not=pl.lit("new"))
    np.testing.assert_array_equal(encoder.transform(new)[:, 3], 0)
    assert encoder.unseen(new) == {}


def test_the_summary_tells_what_became_of_every_column():
    encoder = TableEncoder().fit(mixed())
    assert encoder.summary().splitlines() == [
        "11 columns to 29 features, from 400 rows",
        "size    numbers    value, missing",
        "count   numbers    value",
        "whole   numbers    value, missing",
        "narrow  numbers    value, missing",
        "flag    numbers    value, missing",
        "colour  text       3 of 4 levels, other, missing",
        "when    dates      year, season, weekday, hour, missing",
        "day     dates      year, season, weekday",
        "took    durations  value, missing",
        "same    numbers    left out: it is constant",
        "name    text       left out: none of its levels has 5 rows",
    ]


def test_new_levels_are_other_ones_where_there_are_many():
    rare = {f"rare {k}": 1 for k in range(51)}
    encoder = TableEncoder(min_count=2).fit(repeated(a=3, b=2, **rare))
    new = pl.DataFrame({"x": ["a", "new", None, "rare 7"], "k": [0, 0, 0, 0]})
    expected = [[1, 0, 0], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    np.testing.assert_array_equal(encoder.transform(new)[:, :3], expected)
    assert encoder.unseen(new) == {}


def test_new_levels_are_none_of_a_few_others():
    """One rare level tells nothing of another: before, a new one was taken for it."""
    encoder = TableEncoder(min_count=2).fit(repeated(a=3, b=2, c=1))
    new = pl.DataFrame({"x": ["a", "new", None, "c"], "k": [0, 0, 0, 0]})
    shares = [3 / 6, 2 / 6, 1 / 6]
    expected = [[1, 0, 0], shares, shares, [0, 0, 1]]
    np.testing.assert_allclose(encoder.transform(new)[:, :3], expected, rtol=1e-6)
    assert encoder.unseen(new) == {"x": 2}
    assert encoder.state_.columns[0].rare == ("c",)


def test_what_the_fit_has_not_seen_takes_the_mean():
    fitted = pl.DataFrame(
        {"x": ["a", "a", "b", "b"], "k": [1, 2, 3, 6], "u": [1.0, None, 2.0, 0.0]}
    )
    encoder = TableEncoder().fit(fitted)
    new = pl.DataFrame({"x": ["new", None, "b"], "k": [None, 5, None], "u": [None, None, 7.0]})
    expected = [[0.5, 0.5, 3, 1, 1], [0.5, 0.5, 5, 1, 1], [0, 1, 3, 7, 0]]
    with pytest.warns(UserWarning, match="'k' has missing values, and had none in training"):
        np.testing.assert_array_equal(encoder.transform(new), expected)
    assert encoder.unseen(new) == {"x": 2, "k": 2}
    assert encoder.unlike_fit(new).tolist() == [True, True, True]
    assert encoder.unlike_fit(new[2:].with_columns(k=1)).tolist() == [False]
    # All features have the mean of the fit then, so that nothing pulls one way or another.
    np.testing.assert_array_equal(encoder.transform(fitted).mean(axis=0)[:3], expected[0][:3])


def test_numbers_may_be_names():
    table = pd.DataFrame(
        {"zip": [8001, 8001, 3000, 3000, 3000], "code": [1.0, 1.5, None, 1.0, 1.5]}
    )
    encoder = TableEncoder(categorical=["zip", "code"]).fit(table)
    assert encoder.get_feature_names_out().tolist() == [
        "zip=3000",
        "zip=8001",
        "code=1",
        "code=1.5",
        "code=missing",
    ]
    floats = table.astype({"zip": float})
    np.testing.assert_array_equal(encoder.transform(floats), encoder.transform(table))
    new = table.assign(zip=[8001, 3000, 1, 2, 3])
    np.testing.assert_allclose(encoder.transform(new)[2, :2], [0.6, 0.4], rtol=1e-6)
    assert encoder.unseen(new) == {"zip": 3}
    assert TableEncoder().fit(table).get_feature_names_out()[0] == "zip"


@pytest.mark.parametrize(
    ("columns", "dtype"),
    [
        ({"a": np.float32([1, 2]), "b": ["x", "y"]}, "float32"),
        ({"a": np.int16([1, 2]), "b": [True, False]}, "float32"),
        ({"a": np.int64([1, 2])}, "float64"),
        ({"a": np.float64([1, 1]), "b": np.float32([1, 2])}, "float32"),
        ({"a": np.array(["2020-01-01", "2020-01-02"], "M8[us]")}, "float64"),
        ({"a": np.array([1, 2], "m8[s]")}, "float64"),
    ],
)
def test_the_dtype_holds_what_is_there(columns, dtype):
    frame = pd.DataFrame(columns)
    assert TableEncoder(min_count=1).fit_transform(frame).dtype == dtype
    for chosen in ("float32", "float64"):
        assert TableEncoder(min_count=1, dtype=chosen).fit_transform(frame).dtype == chosen


def test_names_of_features_are_all_different():
    table = pl.DataFrame(
        {
            "x": ["other", "missing", "other", "missing", None, "rare"],
            "x=other": [1, 2, 3, 4, 5, None],
            "a": ["b=c", "b=c", "d", "d", "d", "d"],
            "a=b": ["c", "c", "c", "e", "e", "e"],
        }
    )
    assert names(table) == [
        "x='missing'",
        "x='other'",
        "x=other",
        "x=missing",
        "x=other#2",
        "x=other=missing",
        "a=d",
        "a=b=c",
        "a=b=c#2",
        "a=b=e",
    ]


@pytest.mark.slow
@given(st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(random):
    table = mixed(150)
    order = random.sample(range(150), 150)
    shuffled = table.take(order)
    encoder = TableEncoder().fit(shuffled)
    assert encoder.state_ == TableEncoder().fit(table).state_


@pytest.mark.parametrize("factor", [1e-9, 0.1, 7.0])
def test_only_ratios_of_weights_matter(factor):
    """Levels count in rows of mean weight; rows of weight zero are not there."""
    table = mixed(200)
    weights = np.random.default_rng(1).integers(0, 4, 200)
    one = TableEncoder().fit(table, sample_weight=weights)
    other = TableEncoder().fit(table, sample_weight=factor * weights)
    assert list(one.get_feature_names_out()) == list(other.get_feature_names_out())
    np.testing.assert_allclose(other.transform(table), one.transform(table), rtol=1e-9)
    assert one.state_.n_rows == other.state_.n_rows == (weights > 0).sum()
    alike = TableEncoder().fit(table, sample_weight=np.full(200, factor))
    assert list(alike.get_feature_names_out()) == list(
        TableEncoder().fit(table).get_feature_names_out()
    )


def test_gaps_in_rows_that_are_left_out_are_not_told_of():
    table = pd.DataFrame({"k": [1.0, 2.0, None, 4.0], "y": [1.0, 2.0, None, 3.0]})
    rows = scan(table, target="y", encoder=TableEncoder(), missing_target="drop")
    assert sum(len(chunk.X) for chunk in rows) == 3
    with pytest.warns(UserWarning, match="'k' has missing values"):
        list(scan(table.fillna({"y": 0.0}), target="y", encoder=rows.encoder))
