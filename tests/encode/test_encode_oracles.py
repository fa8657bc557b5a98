"""What becomes of a column, by other libraries and by hand."""

import datetime as dt
import math

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from elmband.sources.encode import TableEncoder

TEXT = st.lists(st.sampled_from("abcdefg"), min_size=8, max_size=60)


def encoded(table, **parameters):
    encoder = TableEncoder(**parameters).fit(table)
    return pd.DataFrame(encoder.transform(table), columns=encoder.get_feature_names_out())


@given(TEXT)
def test_levels_are_the_dummies_of_pandas(values):
    frame = pd.DataFrame({"x": values, "k": range(len(values))})
    ours = encoded(frame, min_count=1)
    dummies = pd.get_dummies(frame[["x"]], prefix_sep="=", dtype=float)
    if dummies.shape[1] == 1:
        assert list(ours) == ["k"]
        return
    pd.testing.assert_frame_equal(ours[dummies.columns], dummies)
    assert set(ours) == {*dummies.columns, "k"}
    counts = frame["x"].value_counts()
    order = sorted(counts.index, key=lambda level: (-counts[level], level))
    assert list(ours)[:-1] == [f"x={level}" for level in order]


@given(TEXT, st.integers(1, 6), st.integers(1, 6))
def test_rare_levels_are_those_of_scikit_learn(values, min_count, max_levels):
    X = np.array(values, dtype=object)[:, None]
    theirs = OneHotEncoder(
        min_frequency=min_count, max_categories=max_levels + 1, sparse_output=False
    ).fit(X)
    (rare,) = theirs.infrequent_categories_
    (known,) = theirs.categories_
    frequent = [level for level in known if rare is None or level not in rare]
    if rare is not None and len(frequent) == max_levels and len(rare) == 1:
        # At its limit scikit-learn counts a single rare level as one of the frequent ones.
        return
    if not frequent or len(known) == 1:
        with pytest.raises(ValueError, match="No column is left"):
            TableEncoder(max_levels, min_count=min_count).fit(X)
        return
    encoder = TableEncoder(max_levels, min_count=min_count).fit(X)
    names = list(encoder.get_feature_names_out())
    expected = theirs.transform(X)
    found = encoder.transform(X)
    # Ours are ordered by count, theirs by name; rare ones come last in both.
    ties = pd.Series(values).value_counts()
    if rare is None or min(ties[frequent]) > max(ties[list(rare)]):
        order = [names.index(f"x0={level}") for level in frequent]
        order += [] if rare is None else [names.index("x0=other")]
        np.testing.assert_array_equal(found[:, order], expected)
    assert len(names) == expected.shape[1]
    np.testing.assert_array_equal(found.sum(axis=1), 1)


NUMBER = st.none() | st.floats(-1e6, 1e6, width=32)


@given(st.lists(st.tuples(NUMBER, NUMBER), min_size=3, max_size=40))
def test_missing_numbers_are_those_of_an_imputer(rows):
    X = np.array(rows, dtype=np.float64)
    X = np.column_stack([X, np.arange(len(X))])
    kept = [j for j in range(3) if not np.isnan(X[:, j]).all()]
    imputer = SimpleImputer(add_indicator=True).fit(X[:, kept])
    expected = imputer.transform(X[:, kept])
    found = TableEncoder().fit_transform(X)
    # What does not vary is left out, and the marks stand beside their columns.
    varies = [len(np.unique(column)) > 1 for column in expected.T]
    ours = sorted(map(tuple, np.round(found.T, 6).tolist()))
    theirs = sorted(map(tuple, np.round(expected.T[varies], 6).tolist()))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-5)


def parts(moment):
    """Calendar numbers by Python's own dates and sines."""
    start, end = (moment.replace(moment.year + k, 1, 1, 0, 0, 0, 0) for k in (0, 1))
    share = (moment - start) / (end - start)
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    turns = (
        (midnight - start) / (end - start),
        moment.weekday() / 7,
        (moment - midnight) / dt.timedelta(days=1),
    )
    waves = [f(2 * math.pi * turn) for turn in turns for f in (math.sin, math.cos)]
    return [moment.year + share, *waves]


MOMENTS = st.datetimes(
    dt.datetime.fromisoformat("0002-01-01"), dt.datetime.fromisoformat("9990-01-01")
)


@given(st.lists(MOMENTS, min_size=2, max_size=20, unique=True))
def test_dates_are_those_of_the_calendar(moments):
    table = pa.table({"t": pa.array(moments, pa.timestamp("us")), "k": range(len(moments))})
    found = encoded(table).drop(columns="k")
    names = ["year", *(f"{a}_{b}" for a in ("season", "weekday", "hour") for b in ("sin", "cos"))]
    expected = pd.DataFrame([parts(m) for m in moments], columns=[f"t={name}" for name in names])
    # Only what varies is there.
    left_out = expected.columns.difference(found.columns)
    np.testing.assert_allclose(found, expected[found.columns], rtol=1e-9, atol=1e-9)
    assert (expected[left_out].max() - expected[left_out].min() < 1e-9).all()


def test_half_of_a_year_is_a_half():
    moments = np.array(["2001-07-02T12", "2001-01-01", "2004-07-02", "1969-07-02T12"], "M8[h]")
    X = TableEncoder().fit_transform(pd.DataFrame({"t": moments}))
    np.testing.assert_allclose(X[:, 0], [2001.5, 2001, 2004.5, 1969.5], rtol=1e-12)


def test_durations_are_in_seconds_and_booleans_are_0_and_1():
    frame = pd.DataFrame({"took": pd.to_timedelta(["1h", "1ms"]), "ok": [True, False]})
    np.testing.assert_array_equal(TableEncoder().fit_transform(frame), [[3600, 1], [0.001, 0]])


def test_times_of_day_are_hours():
    times = [dt.time(6), None, dt.time(12), dt.time(18, 0, 0, 500)]
    for column in (pa.array(times, pa.time64("us")), pd.Series(times)):
        frame = {"t": column, "k": [1, 2, 3, 4]}
        table = pa.table(frame) if isinstance(column, pa.Array) else pd.DataFrame(frame)
        X = encoded(table)
        assert list(X) == ["t=hour_sin", "t=hour_cos", "t=missing", "k"]
        expected = [[1, 0, 0], [0, -1 / 3, 1], [0, -1, 0], [-1, 0, 0]]
        np.testing.assert_allclose(X.iloc[:, :3], expected, atol=1e-6)
