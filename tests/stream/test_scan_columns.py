"""Which columns are read, and sentences about those that cannot be."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse
from written import joined, numbers, write_hdf5, write_table, write_zarr

from elmband.sources.stream import scan

VALUES = numbers(20, 4)
TABLE = {"delay": VALUES[:, 0], "distance": VALUES[:, 1], "origin": ["a"] * 20}


@pytest.fixture
def path(tmp_path):
    return write_table(tmp_path / "flights.parquet", TABLE)


def refused(match, source, **columns):
    with pytest.raises(ValueError, match=match) as caught:
        scan(source, **columns)
    assert "\n" not in str(caught.value)
    assert str(caught.value)[-1] in ".?"


def test_all_other_columns_are_features_in_the_order_of_the_file():
    table = pa.table(dict(zip("abcd", VALUES.T, strict=True)))
    rows = scan(table, target="b", weight="d", features=None)
    assert rows.feature_names == ("a", "c")
    assert scan(table, target=["d", "a"]).feature_names == ("b", "c")
    assert scan(table).feature_names == ("a", "b", "c", "d")


def test_one_output_or_a_list_of_outputs():
    assert scan(VALUES, target=0).single_output
    assert not scan(VALUES, target=[0]).single_output
    assert not scan(VALUES, target=np.array([0, 1])).single_output
    assert not scan(VALUES).single_output
    assert scan(VALUES).n_outputs == 0
    rows = scan(VALUES, target=[3, 0])
    assert rows.n_outputs == 2
    np.testing.assert_array_equal(joined(rows)[1], VALUES[:, [3, 0]])


def test_features_in_any_order_and_any_list():
    for features in ([3, 1], (3, 1), np.array([3, 1]), range(3, 0, -2), [-1, -3]):
        np.testing.assert_array_equal(joined(scan(VALUES, features=features))[0], VALUES[:, [3, 1]])
    np.testing.assert_array_equal(joined(scan(VALUES, features=2))[0], VALUES[:, [2]])
    frame = pd.DataFrame(dict(zip("abcd", VALUES.T, strict=True)))
    rows = scan(frame, target=-1, features=frame.columns[[1, 0]])
    assert rows.feature_names == ("b", "a")
    assert rows.target_names == ("d",)


def test_numbers_as_column_names_of_pandas():
    np.testing.assert_array_equal(joined(scan(pd.DataFrame(VALUES), target=1))[1], VALUES[:, [1]])
    refused("column names that are not text", pd.DataFrame(VALUES)[[1, 0]], target=1)


def test_columns_that_are_not_there(path):
    refused(r"flights.parquet has no column 'dely'; did you mean 'delay'\?", path, target="dely")
    refused("no column 'x'; it has 'delay', 'distance', 'origin'", path, target="x")
    refused("has no column 'y'; its columns have no names, give an index", VALUES, target="y")
    refused("has 4 columns; there is none with index 4", VALUES, target=4)
    refused("has 4 columns; there is none with index -5", VALUES, target=-5)
    many = pa.table({f"c{k}": [1.0] for k in range(30)})
    refused("'c19' and 10 more", many, target="zzz")


def test_columns_chosen_in_a_way_that_makes_no_sense(path):
    refused("column 'delay' is chosen twice", path, target="delay", features=["delay"])
    refused("column 1 is chosen twice", VALUES, target=1, weight=1)
    refused("column 1 is chosen twice", VALUES, features=[1, -3])
    refused("features is an empty list", VALUES, features=[])
    refused("no column left for features", VALUES[:, :1], target=0)
    refused("target must be a name or an index, or a list of them; got 1.5", VALUES, target=1.5)
    refused("features must be a name or an index.* got True", VALUES, features=[True])
    refused("weight must be one column; .* is 2 of them", VALUES, weight=[0, 1])
    refused("leave out target and weight", (VALUES, VALUES[:, 0]), target=0)


@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow"])
@pytest.mark.parametrize(
    ("column", "kind"),
    [
        (["a", "b"], "string"),
        ([dt.date(2020, 1, 1)] * 2, "date32"),
        ([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)] * 2, "timestamp"),
    ],
)
def test_columns_that_hold_no_numbers(tmp_path, ending, column, kind):
    path = write_table(tmp_path / f"rows.{ending}", {"a": [1.0, 2.0], "when": column})
    advice = r"choose numeric columns with features=\[...\], or leave that column out"
    refused(f"rows.{ending}: column 'when' is of type {kind}.*, not numbers; {advice}", path)
    refused("column 'when' is of type", path, target="when")
    assert scan(path, features=["a"]).n_features == 1


@pytest.mark.parametrize(
    ("table", "kind"),
    [
        (pd.DataFrame({"x": pd.Categorical(["a", "b"])}), "category"),
        (pd.DataFrame({"x": pd.array(["a", None], dtype="string")}), "string"),
        (pd.DataFrame({"x": [1 + 2j, 0]}), "complex128"),
        (pl.DataFrame({"x": ["a", "b"]}), "String"),
        (pl.DataFrame({"x": [[1, 2], [3]]}), "List"),
        (pa.table({"x": pa.array(["a", "b"]).dictionary_encode()}), "dictionary"),
        (np.array([["a", "b"]]), "<U1"),
        (np.array([[1 + 2j]]), "complex128"),
        (np.array([[None]]), "object"),
    ],
)
def test_values_in_memory_that_are_no_numbers(table, kind):
    refused(f"is of type {kind}.*, not numbers", table)
    if not isinstance(table, np.ndarray):
        refused(f"column 'x' is of type {kind}", (table, [1, 2]))


def test_two_columns_of_one_name(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,a\n1,2,3\n")
    refused("rows.csv has two columns named 'a'; rename one", tmp_path / "rows.csv")


def test_files_with_other_columns(tmp_path, path):
    other = {name: TABLE[name] for name in ("delay", "distance")}
    write_table(tmp_path / "more.parquet", other | {"extra": VALUES[:, 2], "origin": VALUES[:, 3]})
    write_table(tmp_path / "less.parquet", {"delay": VALUES[:, 0]})
    write_table(tmp_path / "text.parquet", {"delay": ["late"]})
    one, less = tmp_path / "more.parquet", tmp_path / "less.parquet"
    refused("less.parquet has no column 'distance', which .*more.parquet has", [one, less])
    refused("more.parquet has a column 'distance' that .*less.parquet has not", [less, one])
    refused("text.parquet: column 'delay' is of type string", [less, tmp_path / "text.parquet"])
    chosen = scan([path, one], target="delay", features=["distance"])
    assert chosen.n_rows == 40


def test_arrays_with_other_columns(tmp_path):
    np.save(tmp_path / "a.npy", VALUES)
    np.save(tmp_path / "b.npy", VALUES[:, :3])
    refused("b.npy has 3 columns, in .*a.npy it has 4 columns; give files", tmp_path, target=0)
    refused(r"source\[1\]: y has one dimension", [(VALUES, VALUES), (VALUES, VALUES[:, 0])])
    two, three = (VALUES, VALUES[:, 0]), (VALUES, VALUES[:, 0], VALUES[:, 0])
    refused(r"source\[1\] has weights, source\[0\] has none", [two, three])
    refused(r"source\[1\] has no weight, which source\[0\] has", [three, two])
    refused(r"source\[1\] is a tuple, source\[0\] is a matrix; scan them apart", [VALUES, two])


def test_the_widest_type_of_all_files_counts(tmp_path):
    write_table(tmp_path / "a.parquet", {"x": pa.array([1, 2], pa.int16())})
    write_table(tmp_path / "b.parquet", {"x": pa.array([1, 2**40 + 1], pa.int64())})
    rows = scan(tmp_path)
    assert rows.dtype == np.float64
    assert joined(rows)[0][-1] == 2**40 + 1


@pytest.mark.parametrize("write", [write_hdf5, write_zarr])
def test_a_file_with_several_data_sets_that_could_be_meant(tmp_path, write):
    path = tmp_path / ("rows.h5" if write is write_hdf5 else "rows.zarr")
    arrays = {"X": VALUES, "Z": VALUES, "y": VALUES[:, 0], "cube": np.zeros((20, 2, 2))}
    write(path, arrays | {"short": VALUES[:7, 0]})
    said = "has several data sets with two dimensions to take columns from; name the features"
    refused(said + r", as in features='X', out of: .*'X' \(20 by 4, float64\)", path, target="y")
    refused(r"'cube' \(float64 in 3 dimensions\).*'y' \(20, float64\)", path, target=0)
    refused("has no data set 'yy'; did you mean 'y'", path, target="yy", features="X")
    refused("X has 20 rows, short has 7; they must be as many", path, target="short", features="X")
    refused("data set 'cube' is of type float64 in 3 dimensions", path, features="cube")
    refused("weight must be one column; 'Z' is 4 of them", path, features="X", weight="Z")
    assert scan(path, target="y", features="Z").n_features == 4
    np.testing.assert_array_equal(joined(scan(path, target="Z"))[0], VALUES)


def test_a_file_with_single_columns_only(tmp_path):
    path = write_hdf5(tmp_path / "rows.h5", {"a": VALUES[:, 0], "y": VALUES[:, 1]})
    refused("has no data set with two dimensions", path, target="y")
    refused("out of: nothing", write_hdf5(tmp_path / "none.h5", {}))
    assert scan(path, target="y", features=["a"]).n_features == 1


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (VALUES[:, 0], r"source has shape \(20,\), but must have two dimensions"),
        ([VALUES[:, 0]], r"source\[0\] has shape \(20,\), but must have two"),
        (
            (VALUES[:, 0], VALUES[:, 0]),
            r"X has shape \(20,\), but must have two dimensions; reshape it",
        ),
        ((VALUES, VALUES[None]), r"y has shape .*, but must have one or two dimensions"),
        ((VALUES, VALUES, VALUES), r"weight has shape \(20, 4\), but must have one dimension"),
        ((VALUES, VALUES[:5, 0]), "source: X has 20 rows, y has 5; they must be as many"),
        ((VALUES,), r"a tuple of 1; a tuple is \(X, y\) or \(X, y, weight\)"),
        ((VALUES, None), "source: y is of type NoneType; give an array"),
        (([[1.0]], [1.0]), "source: X is of type list; give an array"),
        ([[1.0, 2.0]], r"source\[0\] is of type list; a piece is an array"),
        ([], "source is an empty list"),
        (3, "source is of type int; give a path"),
        (scipy.sparse.csr_array(VALUES), "source is of type csr_array; give a path"),
        ([np.ma.masked_array(VALUES)], "is of type MaskedArray; a piece is an array"),
        (VALUES[:0], "source has no rows; there is nothing to read"),
        (pl.DataFrame({"a": VALUES[:, 0]}).lazy(), "source is of type LazyFrame; give a path"),
    ],
)
def test_sources_that_are_none(source, sentence):
    refused(sentence, source)
