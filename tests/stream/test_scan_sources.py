"""Paths, globs, folders, lists, tuples, tables and functions."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from written import joined, numbers, write_hdf5, write_matrix, write_table, write_zarr

from elmband.sources.stream import Scan, scan

VALUES = numbers(90, 3)


@pytest.fixture
def folder(tmp_path):
    """Three files that are to be read in the order of their names, and some that are not."""
    for k in (2, 0, 1):
        rows = VALUES[30 * k : 30 * (k + 1)]
        columns = {"a": rows[:, 0], "b": rows[:, 1], "y": rows[:, 2]}
        write_table(tmp_path / f"part-{k}.parquet", columns)
    (tmp_path / "README.txt").write_text("not data")
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".part-0.parquet.crc").touch()
    (tmp_path / ".hidden.parquet").touch()
    return tmp_path


def assert_all(rows, values=VALUES):
    X, Y, _ = joined(rows)
    np.testing.assert_array_equal(X, values[:, :2])
    np.testing.assert_array_equal(Y, values[:, 2:])


def test_a_folder_a_glob_and_a_list_of_files(folder):
    assert_all(scan(folder, target="y"))
    assert_all(scan(str(folder), target="y"))
    assert_all(scan(folder / "*.parquet", target="y"))
    assert_all(scan(str(folder / "part-?.parquet"), target="y"))
    assert_all(scan([folder / f"part-{k}.parquet" for k in range(3)], target="y"))
    backwards = scan([folder / f"part-{k}.parquet" for k in (2, 1, 0)], target="y")
    np.testing.assert_array_equal(joined(backwards)[0][:30], VALUES[60:, :2])
    assert backwards.n_rows == 90


def test_a_glob_through_folders(folder):
    (folder / "deeper").mkdir()
    (folder / "part-2.parquet").rename(folder / "deeper" / "part-2.parquet")
    assert scan(folder / "**" / "*.parquet", target="y").n_rows == 90


def test_paths_relative_to_home(folder, monkeypatch):
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("USERPROFILE", str(folder))
    assert scan("~/part-0.parquet", target="y").n_rows == 30


def test_a_folder_of_stores_and_a_store_by_another_name(tmp_path):
    for k in range(3):
        write_zarr(tmp_path / f"part-{k}.zarr", {"": VALUES[30 * k : 30 * (k + 1)]})
    assert_all(scan(tmp_path, target=2))
    (tmp_path / "part-0.zarr").rename(tmp_path / "store")
    assert scan(tmp_path / "store", target=2).n_rows == 30


def test_files_and_pieces_of_one_kind_mix(folder):
    rest = pd.DataFrame({"y": VALUES[60:, 2], "b": VALUES[60:, 1], "a": VALUES[60:, 0]})
    assert_all(scan([folder / "part-[01].parquet", rest], target="y"))


def test_tuples_of_files_and_of_arrays(tmp_path):
    X, y, s = VALUES[:, :2], VALUES[:, 2], np.arange(90) + 1
    for name, array in {"X": X, "y": y, "s": s}.items():
        np.save(tmp_path / f"{name}.npy", array)
    paths = tuple(tmp_path / f"{name}.npy" for name in ("X", "y", "s"))
    for source in (
        paths,
        (X, y, s),
        (paths[0], y, s),
        [(X[:50], y[:50], s[:50]), (X[50:], y[50:], s[50:])],
    ):
        rows = scan(source)
        assert_all(rows)
        assert rows.single_output
        assert rows.has_weights
        np.testing.assert_array_equal(joined(rows)[2], s)
    assert_all(scan(paths[:2]))
    assert not scan((X, VALUES[:, 2:])).single_output
    np.testing.assert_array_equal(joined(scan((X, y), features=[1]))[0], X[:, 1:])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_table_with_targets_apart(make):
    table = make({"a": VALUES[:, 0], "b": VALUES[:, 1]})
    column = make({"y": VALUES[:, 2]})["y"]
    for y in (VALUES[:, 2], column, VALUES[:, 2].tolist()):
        rows = scan((table, y), chunk_size=40)
        assert_all(rows)
        assert rows.feature_names == ("a", "b")
    chosen = scan((table, column), features="b")
    assert chosen.feature_names == ("b",)
    np.testing.assert_array_equal(joined(chosen)[0], VALUES[:, 1:2])


@pytest.mark.one_quick
def test_other_array_libraries(xp):
    X, y = xp.asarray(VALUES[:, :2]), xp.asarray(VALUES[:, 2])
    rows = scan([(X[:40, :], y[:40]), (X[40:, :], y[40:])])
    assert rows.dtype == np.float64
    assert_all(rows)


def test_arrays_in_memory_are_not_copied_as_a_whole():
    base = np.zeros((1, 1))
    huge = np.broadcast_to(base, (10**10, 5))
    rows = scan(huge, target=0)
    assert rows.n_rows == 10**10
    assert next(iter(rows)).X.shape == (rows.chunk_size, 4)
    assert len(list(rows.chunks(1000, start=10**7 - 2))) == 2


class Batches:
    """A function that counts its calls, and what it has given out."""

    def __init__(self, pieces):
        self.pieces, self.calls, self.given, self.open = pieces, 0, 0, 0

    def __call__(self):
        self.calls += 1
        self.open += 1
        try:
            for piece in self.pieces:
                self.given += 1
                yield piece
        finally:
            self.open -= 1


def test_a_function_is_called_only_when_needed():
    batches = Batches([(VALUES[:50, :2], VALUES[:50, 2]), (VALUES[50:, :2], VALUES[50:, 2])])
    rows = scan(batches)
    assert repr(rows) == "Scan(Batches(), not read yet)"
    assert rows.n_rows is None
    assert rows.nbytes is None
    assert batches.given == 0
    assert (rows.n_features, rows.n_outputs, rows.dtype) == (2, 1, np.float64)
    assert rows.chunk_size == 16384
    assert (batches.given, batches.open) == (1, 0)
    assert rows.n_rows is None
    with pytest.raises(TypeError, match="must be read once before its number of rows is known"):
        len(rows)
    assert_all(rows)
    assert len(rows) == 90
    assert_all(rows)
    assert (batches.calls, batches.given, batches.open) == (3, 5, 0)


def test_a_function_that_gives_tables_and_columns_by_name():
    frames = [pl.DataFrame({"a": VALUES[:9, 0], "y": VALUES[:9, 1]})] * 2
    rows = scan(lambda: iter(frames), target="y", features=["a"])
    assert rows.feature_names == ("a",)
    assert sum(len(chunk.X) for chunk in rows) == 18


def test_a_function_that_returns_a_used_iterator_is_refused():
    pieces = iter([(VALUES[:50, :2], VALUES[:50, 2]), (VALUES[50:, :2], VALUES[50:, 2])])
    rows = scan(lambda: pieces)
    with pytest.raises(ValueError, match="returned the same iterator twice"):
        list(rows)


def test_a_function_with_another_number_of_rows_is_refused():
    lengths = iter([50, 50, 50, 40])
    rows = scan(lambda: iter([VALUES[: next(lengths)]]), target=0)
    list(rows)
    list(rows)
    with pytest.raises(ValueError, match="changed while it was being read: it had 50 rows before"):
        list(rows)


def test_later_pieces_of_a_function_must_fit_the_first():
    small = VALUES.astype(np.float32)
    with pytest.raises(ValueError, match=r"Piece 1 of .* has float64 features, Piece 0 .* float32"):
        list(scan(lambda: iter([small, VALUES]), target=0))
    with pytest.raises(
        ValueError, match=r"Piece 1 of .* has 2 columns, in Piece 0 of .* 3 columns"
    ):
        list(scan(lambda: iter([VALUES, VALUES[:, :2]]), target=0))
    assert sum(len(c.X) for c in scan(lambda: iter([VALUES, small]), target=0)) == 180


@pytest.mark.parametrize("pieces", [[], [VALUES[:0]]])
def test_a_function_without_rows(pieces):
    with pytest.raises(ValueError, match="has no rows; there is nothing to read"):
        list(scan(lambda: iter(pieces), target=0))


@pytest.mark.parametrize("made", [None, VALUES, 3, pd.DataFrame({"a": [1]})])
def test_a_function_that_does_not_return_an_iterator(made):
    with pytest.raises(ValueError, match="it must return an iterator of pieces"):
        list(scan(lambda: made, target=0))


def test_a_scan_travels_to_other_processes(folder):
    rows = pickle.loads(pickle.dumps(scan(folder, target="y")))  # noqa: S301 - our own bytes
    assert_all(rows)
    function = pickle.loads(pickle.dumps(scan(one_piece, target=2)))  # noqa: S301 - likewise
    assert_all(function)
    assert_all(pickle.loads(pickle.dumps(function)))  # noqa: S301 - likewise


def one_piece():
    yield VALUES


def test_what_a_scan_says_of_itself(folder, tmp_path):
    assert isinstance(scan(folder, target="y"), Scan)
    expected = f"Scan({folder}, 3 parts, 90 rows, 2 features, target: column 'y')"
    assert repr(scan(folder, target="y")) == expected
    several = scan(VALUES, target=[0, -1])
    assert repr(several) == "Scan(source, 90 rows, 1 feature, target: column 0, column 2)"
    assert repr(scan(one_piece)) == "Scan(one_piece(), not read yet)"
    path = write_table(tmp_path / "rows.csv", {"a": [1.0]})
    assert repr(scan(path)) == f"Scan({path}, rows not counted yet, 1 feature, target: none)"
    both = scan([VALUES, VALUES], target=0)
    assert repr(both).startswith("Scan(source[0] and 1 more, 2 parts, 180 rows")
    path = write_hdf5(tmp_path / "rows.h5", {"X": VALUES, "y": VALUES[:, 0]})
    assert repr(scan(path, target="y")).endswith("3 features, target: data set 'y')")
    path = write_matrix(tmp_path / "rows.npy", VALUES)
    assert repr(scan((path, path))).endswith("column 0 of y, column 1 of y, column 2 of y)")
