"""Tables that cannot be encoded, each told in one sentence."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from elmband.sources.encode import TableEncoder


def refused(match, table, encoder=None, **parameters):
    use = TableEncoder(**parameters).fit if encoder is None else encoder.transform
    with pytest.raises(ValueError, match=match) as caught:
        use(table)
    assert "\n" not in str(caught.value)


FITTED = pd.DataFrame(
    {
        "size": [1.0, 2.0, 3.0, 4.0],
        "colour": ["red", "red", "blue", "blue"],
        "when": pd.to_datetime(["2020-01-01", "2021-02-03", "2022-05-06", "2023-05-07"]),
    }
)
ENCODER = TableEncoder().fit(FITTED)


def test_columns_that_are_not_there():
    refused(
        r"X has no column 'size'; did you mean 'sizes'\?",
        FITTED.rename(columns={"size": "sizes"}),
        ENCODER,
    )
    refused(
        "X has no column 'when'; the encoder was fitted on it", FITTED[["size", "colour"]], ENCODER
    )
    refused("X has no names of columns as those of the fit; give a table", np.ones((3, 3)), ENCODER)
    by_place = TableEncoder().fit(np.arange(6.0).reshape(3, 2))
    refused("X has 3 features, but TableEncoder is expecting 2", np.ones((3, 3)), by_place)
    refused("X has 3 features, but TableEncoder is expecting 2", FITTED, by_place)


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("size", pd.to_timedelta([1, 2, 3, 4]), "holds durations, the encoder was fitted on numb"),
        ("colour", [1, 2, 3, 4], "holds numbers, the encoder was fitted on text; convert it"),
        ("size", [1.0, np.inf, -np.inf, 0.0], "holds 2 infinite values; mend them, or make them"),
    ],
)
def test_columns_that_changed(name, values, sentence):
    refused(
        f"^X, rows 0 to 3: column {name!r} {sentence}", FITTED.assign(**{name: values}), ENCODER
    )


@pytest.mark.parametrize(
    ("name", "values", "sentence"),
    [
        ("size", ["1", "-", "b", "d"], "holds 'b', which is not a number; the encoder"),
        ("size", pd.Series([1, None, "b", 2], dtype=object), "holds 'b', which is not a number"),
        (
            "when",
            ["2020-01-01", None, "soon", "?"],
            "holds 'soon', which is not a date as those",
        ),
        ("when", ["2020-01-01", None, "1/13/2020", "?"], "holds '1/13/2020', which is not a date"),
    ],
)
def test_values_that_are_none_are_named_with_their_row(name, values, sentence):
    refused(f"^X, row 2: column {name!r} {sentence}", FITTED.assign(**{name: values}), ENCODER)


def test_numbers_too_large_for_the_type_of_the_fit():
    encoder = TableEncoder().fit(np.float32([[1], [2]]))
    refused("'x0' holds numbers too large for float32, which held", np.array([[1e300]]), encoder)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1, "a", 2], "holds numbers and text, such as 2 and 'a'; make them one type"),
        (["a", dt.date(2020, 1, 1), None], "holds dates and text, such as datetime.date"),
        ([b"a", b"b", None], "holds bytes objects, which have no place in a model; leave it out"),
        ([[1], [2], [3]], "holds list objects, which have no place"),
        ([1.0, np.inf, 2.0], "holds 1 infinite value; mend it, or make it missing"),
        (
            [dt.datetime(2020, 1, 1, tzinfo=dt.UTC), None, None],
            "holds dates with time zones as objects; convert it, as with pandas.to_datetime",
        ),
    ],
)
def test_objects_that_have_no_place(values, sentence):
    frame = pd.DataFrame({"k": [1, 2, 3], "x": pd.Series(values, dtype=object)})
    refused(f"^X, rows? [0-2 to]+: column 'x' {sentence}", frame)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (pa.array([[1], [2]]), "List"),
        (pa.array([{"a": 1}, {"a": 2}]), "Struct"),
        (pa.array([b"a", b"b"]), "Binary"),
    ],
)
def test_types_that_have_no_place(column, kind):
    for table in (pa.table({"x": column}), pl.DataFrame({"x": column})):
        refused(rf"column 'x' is of type {kind}.*, which cannot be encoded; leave it out", table)


def test_no_columns_no_rows_and_names_twice():
    refused("X has no rows", FITTED[:0])
    refused("X has no columns", pd.DataFrame(index=[0, 1]))
    refused("X has no rows", FITTED[:0], ENCODER)
    twice = pa.Table.from_arrays([pa.array([1, 2])] * 2, ["a", "a"])
    refused("X has two columns named 'a'; rename one of them", twice)
    refused("X has two columns named 'a'; rename", pd.DataFrame([[1, 2]], columns=["a", "a"]))
    refused("has column names that are not text; rename", pd.DataFrame([[1, 2]], columns=["a", 1]))
    refused("X is a table that is not computed yet; collect it first", pl.LazyFrame({"a": [1]}))


def test_nothing_is_left():
    table = pl.DataFrame({"a": [1, 1], "b": ["x", "y"], "c": [None, None]})
    refused(
        r"^No column is left to learn from in these rows \(n_samples = 2\): 'a', it is constant; "
        "'b', none of its levels has 2 rows; 'c', it has no values.$",
        table,
    )
    weights = [0, 0]
    with pytest.raises(ValueError, match="no row with a weight above zero"):
        TableEncoder().fit(FITTED[:2], sample_weight=weights)


def test_weights_that_cannot_be():
    for weights in ([1.0], [1, 1, 1, -1], [1, 1, 1, np.nan], np.ones((4, 1))):
        with pytest.raises(ValueError, match="one number of at least 0 for each of the 4 rows"):
            TableEncoder().fit(FITTED, sample_weight=weights)


def test_arrays_that_cannot_be():
    with pytest.raises(ValueError, match="Complex data not supported"):
        TableEncoder().fit(np.array([[1 + 2j], [0]]))
    refused("contains infinity", np.array([[1.0], [np.inf]]))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        TableEncoder().fit(np.array([1.0, 2.0]))
    with pytest.raises(TypeError, match="Sparse data was passed"):
        TableEncoder().fit(scipy.sparse.eye(3))


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"max_levels": 0}, "max_levels must be a whole number of at least 1, or 'auto'; got 0"),
        (
            {"max_levels": 2.5},
            "max_levels must be a whole number of at least 1, or 'auto'; got 2.5",
        ),
        ({"max_levels": True}, "max_levels must be a whole number"),
        ({"min_count": 0}, "min_count must be 'auto' or a positive number; got 0"),
        ({"min_count": "some"}, "min_count must be 'auto' or a positive number; got 'some'"),
        ({"categorical": "zip"}, "categorical must be a list of names; got 'zip'"),
        ({"categorical": [1]}, r"categorical must be a list of names; got \[1\]"),
        ({"categorical": ["zap"]}, "categorical names 'zap', which is no column to learn from"),
        ({"categorical": ["when"]}, "'when' holds dates; categorical= is for columns of numbers"),
        ({"dtype": "int8"}, "dtype must be one of auto, float32, float64; got 'int8'"),
    ],
)
def test_parameters_that_cannot_be(parameters, sentence):
    refused(sentence, FITTED, **parameters)


def test_attributes_exist_once_it_is_fitted():
    for name in ("target_levels_", "dropped_"):
        with pytest.raises(AttributeError, match=f"{name} exists once the encoder is fitted"):
            getattr(TableEncoder(), name)
    with pytest.raises(ValueError, match="input_features is not equal to feature_names_in_"):
        ENCODER.get_feature_names_out(["a", "b", "c"])
