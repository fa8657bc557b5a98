"""What a user says of columns, whatever they look like."""

import numpy as np
import pandas as pd
import pytest
from mixed import mixed, write_csv

from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

TABLE = pd.DataFrame(
    {
        "zip": [8001, 3000, 8001, 3000, 1000] * 4,
        "when": ["20120131", "20120301"] * 10,
        "order": ["3/4/2012", "4/5/2012"] * 10,
        "id": range(20),
    }
)


@pytest.mark.parametrize(
    ("types", "sentence"),
    [
        (["zip"], r"types must be a mapping .*\{'zip': 'text'\}; got \['zip'\]"),
        ({1: "text"}, "types must be a mapping from names of columns; got 1"),
        ({"zip": "words"}, "types says 'words' of 'zip'; it may be number, text, date, date:dmy, "),
        (
            {"zap": "text"},
            r"types names 'zap', which is no column to learn from; did you mean 'zip",
        ),
        ({"order": "date"}, r"'order' holds dates that may be day/month/year or month/day/year, "),
        (
            {"id": "date"},
            "X, row 0: column 'id' holds '0', which is not a date; mend it",
        ),
    ],
)
def test_types_that_cannot_be(types, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        TableEncoder(types=types).fit(TABLE)
    assert "\n" not in str(caught.value)


def test_what_to_write_is_said_where_the_order_of_dates_is_open():
    with pytest.raises(ValueError, match=r"types=\{'order': 'date:dmy'\} or types=\{'order': 'da"):
        TableEncoder(types={"order": "date"}).fit(TABLE)


def test_one_column_has_one_type():
    with pytest.raises(ValueError, match="Both categorical and types name 'zip'; leave it to one"):
        TableEncoder(categorical=["zip"], types={"zip": "text"}).fit(TABLE)
    one = TableEncoder(categorical=["zip"]).fit(TABLE[["zip"]]).state_
    assert TableEncoder(types={"zip": "text"}).fit(TABLE[["zip"]]).state_.columns == one.columns


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("when", "text", "holds dates; categorical= is for columns of numbers and text"),
        ("when", "number", "holds dates, which are no numbers; leave it out of types"),
        ("took", "date", "holds durations, which are no dates; leave it out of types"),
        ("flag", "date", "holds numbers, which are no dates"),
        ("colour", "date", "holds 'red', which is not a date; mend it"),
    ],
)
def test_types_that_columns_have_not(name, kind, sentence):
    with pytest.raises(ValueError, match=f"column '{name}' {sentence}"):
        TableEncoder(types={name: kind}).fit(mixed())


def test_ignored_columns_are_left_out_whatever_they_hold():
    table = TABLE[["zip", "id"]].assign(odd=[[1]] * 20)
    with pytest.raises(ValueError, match="column 'odd' holds list objects"):
        TableEncoder().fit(table)
    encoder = TableEncoder(types={"odd": "ignore", "id": "ignore"}).fit(table)
    assert encoder.dropped_["odd"] == encoder.dropped_["id"] == "ignored"
    assert "odd  not read  left out: ignored" in encoder.summary()
    assert encoder.transform(TABLE).shape == (20, 1)


def test_types_that_columns_have_anyhow_change_nothing():
    table = mixed()
    types = {"size": "number", "colour": "text", "when": "date", "flag": "number"}
    one, other = TableEncoder().fit(table), TableEncoder(types=types).fit(table)
    np.testing.assert_array_equal(one.transform(table), other.transform(table))
    assert one.state_.names == other.state_.names


def test_dates_without_separators_are_such_if_a_user_says_so(tmp_path):
    types = {"when": "date", "order": "date:dmy", "zip": "text"}
    encoder = TableEncoder(types=types).fit(TABLE)
    dates = TABLE.assign(
        when=pd.to_datetime(TABLE["when"]), order=pd.to_datetime(TABLE["order"], dayfirst=True)
    )
    expected = TableEncoder(types={"zip": "text"}).fit(dates)
    assert encoder.state_.names == expected.state_.names
    np.testing.assert_array_equal(encoder.transform(TABLE), expected.transform(dates))
    # New rows may have types, and 20120131 may be a number.
    new = dates.assign(when=TABLE["when"].astype(int))
    np.testing.assert_array_equal(encoder.transform(new), expected.transform(dates))
    # In CSV it looks like a number, which is read as text then.
    path = write_csv(tmp_path / "rows.csv", TABLE)
    rows = scan(path, target="id", features=["zip", "when", "order"], encoder=TableEncoder())
    rows = rows.with_encoder(TableEncoder(types=types))
    X = np.concatenate([chunk.X for chunk in rows])
    np.testing.assert_array_equal(X, expected.transform(dates)[:, :-1])
    again = scan(path, encoder=TableEncoder.from_state(rows.encoder.state_))
    np.testing.assert_array_equal(np.concatenate([c.X for c in again]), X)


def test_text_may_begin_late_in_a_file_of_numbers(tmp_path):
    """The first megabyte of the file holds numbers only."""
    values = [str(k % 100) for k in range(300_000)]
    values[250_000] = "unknown"
    path = write_csv(tmp_path / "rows.csv", {"x": values, "y": np.arange(300_000) % 7})
    rows = scan(path, target="y", encoder=TableEncoder(types={"x": "number"}))
    with pytest.warns(UserWarning, match=r"text in 1 row, such as 'unknown' \(row 250000\)"):
        assert rows.feature_names == ("x", "x=missing")


def test_types_are_kept_with_the_encoder():
    types = {"zip": "text", "id": "ignore"}
    encoder = TableEncoder(types=types).fit(TABLE[["zip", "id"]])
    assert encoder.state_.parameters["types"] == types
    again = TableEncoder.from_state(encoder.state_)
    assert again.types == types
    assert again.text_columns >= {"zip"}
    assert "id" not in again.text_columns
