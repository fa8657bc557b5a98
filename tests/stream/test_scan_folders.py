"""Folders in folders: every file is read, once and in order, and no column is lost unsaid."""

import numpy as np
import pandas as pd
import pytest
from written import joined, numbers, write_table, write_zarr

from elmband import TableEncoder
from elmband.sources.stream import scan

VALUES = numbers(90, 3)


def write_part(path, k):
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = VALUES[30 * k : 30 * (k + 1)]
    write_table(path, {"a": rows[:, 0], "b": rows[:, 1], "y": rows[:, 2]})


def assert_all(rows, values=VALUES):
    X, Y, _ = joined(rows)
    np.testing.assert_array_equal(X, values[:, :2])
    np.testing.assert_array_equal(Y, values[:, 2:])


@pytest.fixture
def nested(tmp_path):
    """Three files at different depths, and others that are not complete or no data."""
    folder = tmp_path / "mix"
    write_part(folder / "a.parquet", 0)
    write_part(folder / "sub" / "b.parquet", 1)
    write_part(folder / "sub" / "z" / "a.parquet", 2)
    for name in ("_temporary/0", ".ipynb_checkpoints", "sub/_delta_log", "sub/.part.parquet"):
        write_part(folder / name / "x.parquet", 0)
    (folder / "sub" / "_SUCCESS").touch()
    (folder / "sub" / "_metadata.parquet").touch()
    (folder / "sub" / "notes.txt").touch()
    (folder / "empty").mkdir()
    return folder


def test_folders_in_a_folder_are_read(nested):
    assert_all(scan(nested, target="y"))
    assert_all(scan([nested], target="y"))


def test_a_link_that_leads_back_is_not_followed(nested):
    (nested / "sub" / "back").symlink_to(nested, target_is_directory=True)
    assert_all(scan(nested, target="y"))


def test_a_link_to_another_folder_is_followed(nested):
    (nested / "sub").rename(nested.parent / "elsewhere")
    (nested / "sub").symlink_to(nested.parent / "elsewhere", target_is_directory=True)
    assert_all(scan(nested, target="y"))


@pytest.mark.parametrize("name", ["two.zarr", "two"])
def test_stores_in_folders_are_no_folders_of_files(tmp_path, name):
    write_zarr(tmp_path / "one.zarr", {"": VALUES[:30]})
    write_zarr(tmp_path / "sub" / name, {"": VALUES[30:]})
    assert_all(scan(tmp_path, target=2))
    assert len(scan(tmp_path, target=2)._source.parts) == 2


def test_formats_of_all_folders_must_be_one(nested):
    write_part(nested / "sub" / "b.csv", 1)
    with pytest.raises(ValueError, match=r"formats \(csv, parquet\); choose one .*\*\*.\*.parquet"):
        scan(nested, target="y")
    assert_all(scan(nested / "sub*" / "**" / "b.csv", target="y"), VALUES[30:60])


def test_a_pattern_may_match_folders(tmp_path):
    write_part(tmp_path / "spark0.parquet" / "part-0.parquet", 0)
    write_part(tmp_path / "spark1.parquet" / "part-0.parquet", 1)
    write_part(tmp_path / "spark1.parquet" / "part-1.parquet", 2)
    (tmp_path / "spark1.parquet" / "_SUCCESS").touch()
    assert_all(scan(tmp_path / "spark*.parquet", target="y"))
    # It matches the folders and the files in them.
    assert_all(scan(tmp_path / "**" / "*.parquet", target="y"))


def test_a_pattern_does_not_match_hidden_folders_by_chance(nested):
    assert_all(scan(nested / "[!a]*", target="y"), VALUES[30:])
    assert_all(scan(nested / "_temp*", target="y"), VALUES[:30])
    with pytest.raises(ValueError, match=r"emp\* holds no file that can be read: .npy"):
        scan(nested / "emp*")


class TestNamesOfFoldersThatAreColumns:
    @pytest.fixture
    def table(self, tmp_path):
        frame = pd.DataFrame(VALUES, columns=["a", "b", "y"]).assign(year=np.arange(90) // 30)
        frame.to_parquet(tmp_path / "table", partition_cols=["year"])
        return tmp_path / "table"

    @pytest.mark.parametrize("pattern", ["", "**/*.parquet", "*", "year=*/*.parquet"])
    def test_are_not_lost_without_a_word(self, table, pattern):
        sentence = "year=0.*has no column 'year', after which its folder is named; name the columns"
        with pytest.raises(ValueError, match=sentence) as caught:
            scan(table / pattern, target="y")
        assert "\n" not in str(caught.value)
        assert_all(scan(table / pattern, target="y", features=["a", "b"]))

    def test_cannot_be_chosen(self, table):
        sentence = "has no column 'year', only its folder is named after it; write it into the file"
        with pytest.raises(ValueError, match=sentence):
            scan(table, target="year", features=["a"])
        with pytest.raises(ValueError, match=sentence):
            scan(table, target="y", features=["a", "year"])

    def test_need_not_be_named_where_one_of_them_is_chosen(self, table):
        assert_all(scan(table / "year=1", target="y"), VALUES[30:60])

    def test_may_be_left_out_by_what_an_encoder_knows(self, table):
        with pytest.raises(ValueError, match="after which its folder is named"):
            scan(table, target="y", encoder=TableEncoder())
        encoder = TableEncoder().fit(pd.DataFrame(VALUES[:, :2], columns=["a", "b"]))
        assert scan(table, target="y", encoder=encoder).n_features == 2

    def test_may_be_in_the_files_too(self, tmp_path):
        (tmp_path / "b=3").mkdir()
        write_part(tmp_path / "b=3" / "rows.parquet", 0)
        assert_all(scan(tmp_path, target="y"), VALUES[:30])

    def test_of_arrays(self, tmp_path):
        (tmp_path / "year=1").mkdir()
        np.save(tmp_path / "year=1" / "rows.npy", VALUES)
        with pytest.raises(ValueError, match="has no column 'year', after which"):
            scan(tmp_path, target=2)
        assert_all(scan(tmp_path, target=2, features=[0, 1]))
