"""The same table in every library gives the same numbers."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from mixed import LIBRARIES, mixed

from elmband.sources.encode import TableEncoder

TABLE = mixed()
FIRST = TableEncoder().fit(TABLE)


@pytest.mark.parametrize("library", LIBRARIES)
def test_all_libraries_agree(library):
    table = LIBRARIES[library](TABLE)
    encoder = TableEncoder().fit(table)
    assert encoder.state_ == FIRST.state_
    np.testing.assert_array_equal(encoder.transform(table), FIRST.transform(TABLE))


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_row_with_nothing_in_it(library):
    empty = TABLE.schema.empty_table().to_pandas().reindex([0])
    table = LIBRARIES[library](pa.Table.from_pandas(empty, TABLE.schema, preserve_index=False))
    with pytest.warns(UserWarning, match="'count' has missing values, and had none in training"):
        row = FIRST.transform(table)[0]
    X = dict(zip(FIRST.get_feature_names_out(), row, strict=True))
    assert X["size=missing"] == X["colour=missing"] == X["when=missing"] == 1
    assert X["colour=red"] == 0
    means = FIRST.transform(TABLE).mean(axis=0)
    index = FIRST.get_feature_names_out().tolist().index
    # Not one value of count and day was missing in the fit: they take the mean.
    np.testing.assert_allclose(X["count"], means[index("count")])
    np.testing.assert_allclose(X["day=season_sin"], means[index("day=season_sin")])


def test_order_of_columns_and_more_of_them_do_not_matter():
    names = TABLE.column_names[::-1]
    mixed_up = TABLE.select(names).append_column("more", pa.array(["?"] * len(TABLE)))
    np.testing.assert_array_equal(FIRST.transform(mixed_up), FIRST.transform(TABLE))
    needed = TABLE.drop(["same", "name"])
    np.testing.assert_array_equal(FIRST.transform(needed), FIRST.transform(TABLE))


ZONE = "America/New_York"
NAIVE = pd.date_range("2021-03-13 20:30", periods=40, freq="7h")


def aware(zone):
    return NAIVE.tz_localize("UTC").tz_convert(zone).as_unit("us")


def arrow_backed(frame):
    return pa.Table.from_pandas(frame).to_pandas(types_mapper=pd.ArrowDtype)


@pytest.mark.parametrize(
    "make",
    [pd.DataFrame, pl.from_pandas, pa.Table.from_pandas, arrow_backed],
    ids=["pandas", "polars", "arrow", "arrow in pandas"],
)
def test_dates_with_a_time_zone_are_on_its_clocks(make):
    table = make(pd.DataFrame({"t": aware(ZONE)}))
    encoder = TableEncoder().fit(table)
    clock = pd.DataFrame({"t": aware(ZONE).tz_localize(None)})
    expected = TableEncoder().fit_transform(clock)
    np.testing.assert_array_equal(encoder.transform(table), expected)
    elsewhere = make(pd.DataFrame({"t": aware("Asia/Tokyo")}))
    np.testing.assert_array_equal(encoder.transform(elsewhere), expected)
    with pytest.raises(ValueError, match="'t' holds dates, the encoder was fitted on dates with"):
        encoder.transform(make(clock))


def test_offsets_are_time_zones_too():
    frame = pd.DataFrame({"t": aware("+03:00")})
    encoder = TableEncoder().fit(frame)
    assert encoder.state_.columns[0].zone == "+03:00"
    expected = TableEncoder().fit_transform(pd.DataFrame({"t": aware("+03:00").tz_localize(None)}))
    for new in (frame, pd.DataFrame({"t": aware("Etc/GMT+9")})):
        np.testing.assert_array_equal(encoder.transform(new), expected)
    column = replace(encoder.state_.columns[0], zone="Nowhere/At_All")
    lost = TableEncoder.from_state(replace(encoder.state_, columns=(column,)))
    sentence = r"'t' holds dates in the time zone .*, which cannot be converted to Nowhere/At_All"
    for new in (frame, pa.table({"t": pa.array(aware("UTC"))}), pl.DataFrame({"t": aware("UTC")})):
        with pytest.raises(ValueError, match=sentence):
            lost.transform(new)


def test_units_of_dates_do_not_matter():
    frame = pd.DataFrame({"t": NAIVE})
    expected = TableEncoder().fit_transform(frame)
    for unit in ("s", "ms", "us", "ns"):
        table = pa.table({"t": pa.array(NAIVE, pa.timestamp(unit))})
        np.testing.assert_array_equal(TableEncoder().fit_transform(table), expected)
    objects = pd.DataFrame({"t": [moment.to_pydatetime() for moment in NAIVE]}, dtype=object)
    np.testing.assert_array_equal(TableEncoder().fit_transform(objects), expected)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([Decimal("1.5"), None, 3], [1.5, 2.25, 3]),
        ([np.bool_(1), None, False], [1, 0.5, 0]),
        ([dt.timedelta(seconds=3), np.timedelta64(1000, "ms"), pd.NaT], [3, 1, 2]),
        ([1, 2.5, pd.NA], [1, 2.5, 1.75]),
    ],
)
def test_objects_are_what_they_are(values, expected):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    np.testing.assert_allclose(TableEncoder().fit_transform(frame)[:, 0], expected)


def test_arrays_of_text_have_places_for_names():
    rows = [["a", 1.0], ["b", None], ["a", 2.0], ["b", 4.5]]
    for X in (rows, np.array(rows, dtype=object)):
        encoder = TableEncoder().fit(X)
        assert list(encoder.get_feature_names_out()) == ["x0=a", "x0=b", "x1", "x1=missing"]
        np.testing.assert_array_equal(encoder.transform(X)[1], [0, 1, 2.5, 1])
    named = encoder.get_feature_names_out(["kind", "size"])
    assert list(named) == ["kind=a", "kind=b", "size", "size=missing"]
    frame = pd.DataFrame(rows)
    np.testing.assert_array_equal(encoder.transform(frame), encoder.transform(rows))
    assert not hasattr(TableEncoder().fit(frame), "feature_names_in_")


def test_dictionaries_of_arrow_may_be_long_and_hold_nulls():
    long = pa.DictionaryArray.from_arrays(
        pa.array([70, 3, None, 70, 1, 3], pa.uint8()), pa.array([None, None, *map(str, range(98))])
    )
    table = pa.table({"x": long})
    encoder = TableEncoder().fit(table)
    assert list(encoder.get_feature_names_out()) == ["x=1", "x=68", "x=missing"]
    expected = [[0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 0, 1], [1, 0, 0]]
    np.testing.assert_array_equal(encoder.transform(table), expected)
    short = pa.table({"x": pa.array(["1", None, "68"]).dictionary_encode("encode")})
    np.testing.assert_array_equal(encoder.transform(short), [[1, 0, 0], [0, 0, 1], [0, 1, 0]])
