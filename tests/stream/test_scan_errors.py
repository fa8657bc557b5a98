"""Values and files that cannot be used, each told in a sentence that names the place."""

import os
import pickle
import shutil
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from written import MATRICES, TABLES, numbers, write_hdf5, write_matrix, write_table, write_zarr

from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

NAMES = ["a", "b", "y", "w"]


def write(path, values):
    ending = path.name.partition(".")[2]
    if ending in TABLES:
        write_table(path, dict(zip(NAMES, values.T, strict=True)))
        return scan(path, target="y", weight="w", chunk_size=100)
    return scan(write_matrix(path, values), target=2, weight=3, chunk_size=100)


def refused(rows, match, kind=ValueError):
    with pytest.raises(kind, match=match) as caught:
        list(rows)
    assert "\n" not in str(caught.value)


@pytest.mark.one_quick
@pytest.mark.parametrize("ending", [*TABLES, *MATRICES])
@pytest.mark.parametrize(
    ("column", "value", "words"),
    [
        (1, np.nan, "holds 2 missing values"),
        (2, np.inf, "holds 2 infinite values"),
        (3, np.nan, "holds 2 missing values"),
        (3, -1.0, "holds 2 negative values; a weight counts how often a row is there"),
    ],
)
def test_bad_values_are_refused_with_their_place(tmp_path, ending, column, value, words):
    values = np.abs(numbers(450, 4)) + 1
    values[[310, 377], column] = value
    rows = write(tmp_path / f"rows.{ending}", values)
    name = repr(NAMES[column]) if ending in TABLES else column
    of = " of data set 'data'" if ending.endswith(("h5", "hdf5")) else ""
    refused(rows, f"rows.{ending}, rows 300 to 399: column {name}{of} {words}")


def test_rows_are_counted_within_their_file(tmp_path):
    good, bad = numbers(130, 2), numbers(130, 2)
    bad[50, 0] = np.nan
    np.save(tmp_path / "a.npy", good)
    np.save(tmp_path / "b.npy", bad)
    # The second chunk begins in the first file and ends at row 69 of the second.
    refused(scan(tmp_path, chunk_size=100), "b.npy, rows 0 to 69: column 0 holds 1 missing value;")
    refused(scan([good, bad]), r"source\[1\], rows 0 to 129: column 0 holds 1 missing value;")


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.5, None, 2.5]),
        pa.array([1, None, 2], pa.int16()),
        pa.array([2**60 + 1, None, 2]),
        pa.array([True, None, False]),
        pa.array([None, None, None]),
        pa.array([1, None, 2]).cast(pa.decimal128(21, 2)),
    ],
    ids=lambda column: str(column.type),
)
def test_nulls_are_missing_values(tmp_path, column):
    sentence = f"column 'a' holds {column.null_count} missing value"
    path = write_table(tmp_path / "rows.parquet", {"a": column, "b": [1, 2, 3]})
    refused(scan(path), sentence)
    table = pa.table({"a": column, "b": [1, 2, 3]})
    refused(scan(table), sentence)
    if column.null_count < 3:
        refused(scan(pl.from_arrow(table)), sentence)
    if not pa.types.is_decimal(column.type) and column.null_count < 3:
        refused(scan(table.to_pandas(types_mapper=pd.ArrowDtype)), sentence)


def test_large_finite_values_are_fine():
    values = np.full((1000, 2), 3e38, dtype=np.float32)
    assert next(iter(scan(values, target=1))).X.shape == (1000, 1)
    refused(scan(np.append(values, [[np.inf, 0]], axis=0)), "holds 1 missing|holds 1 infinite")


def test_no_row_with_a_weight():
    refused(scan((np.ones((5, 2)), np.ones(5), np.zeros(5))), "no rows with a weight above 0")


def test_text_in_a_column_of_numbers(tmp_path):
    lines = [f"{k},{k},t{k}" for k in range(150_000)]
    lines[140_000] = "7,late,t"
    path = tmp_path / "rows.csv"
    path.write_text("a,y,t\n" + "\n".join(lines))
    rows = scan(path, target="y", features=["a"])
    refused(rows, "rows.csv, row 140000: column 'y' holds 'late', which is not a number; mend")


def test_a_line_with_too_many_values(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "1,2\n" * 300_000 + "1,2,3\n")
    refused(
        scan(path, target="y"),
        "rows.csv, row 300000 cannot be read as CSV: a line has another number of cells",
    )


def test_a_file_without_names_of_columns(tmp_path):
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n")
    with pytest.raises(ValueError, match="begins with numbers; its first line must hold the names"):
        scan(tmp_path / "rows.csv")


@pytest.mark.parametrize("encoding", ["utf-32", "latin-1"])
def test_text_that_is_not_utf8(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    path.write_text("größe,y\n" + "1,2\n" * 100, encoding=encoding)
    with pytest.raises(
        ValueError, match=r"rows.csv is not text in UTF-8; name .*encoding=.*--encoding"
    ) as caught:
        scan(path, target="y")
    assert type(caught.value) is ValueError
    assert scan(path, target="y", encoding=encoding).feature_names == ("größe",)
    path.write_text("größe,y\n" + "1,2\n" * 100, encoding="utf-8-sig")
    assert scan(path, target="y").feature_names == ("größe",)


@pytest.mark.parametrize("ending", ["csv", "parquet", "npy", "ipc"])
def test_files_without_rows(tmp_path, ending):
    path = tmp_path / f"rows.{ending}"
    values = np.empty((0, 2))
    if ending == "npy":
        np.save(path, values)
    else:
        write_table(path, {"a": values[:, 0], "b": values[:, 1]})
    with pytest.raises(ValueError, match=f"rows.{ending} has no rows; there is nothing to read"):
        list(scan(path))


def test_files_that_are_not_there(tmp_path):
    for name in ("rows.parquet", "rows.npy", "rows.zarr", "folder"):
        with pytest.raises(FileNotFoundError, match=f"{name} does not exist; check the name"):
            scan(tmp_path / name)
    with pytest.raises(FileNotFoundError, match=r"No file matches .*\*.csv; check the pattern"):
        scan(tmp_path / "*.csv")
    with pytest.raises(FileNotFoundError, match=r"X.npy does not exist"):
        scan((tmp_path / "X.npy", np.ones(3)))


def test_files_of_unknown_formats(tmp_path):
    with pytest.raises(ValueError, match=r"holds no file that can be read: .npy, "):
        scan(tmp_path)
    (tmp_path / "rows.xlsx").touch()
    with pytest.raises(ValueError, match=r"rows.xlsx has none of the endings .*: .npy, .h5"):
        scan(tmp_path / "rows.xlsx")
    np.save(tmp_path / "rows.npy", np.ones((3, 2)))
    write_table(tmp_path / "rows.csv", {"a": [1.0]})
    with pytest.raises(ValueError, match=r"several formats \(csv, npy\); choose one .*\*.csv"):
        scan(tmp_path)
    with pytest.raises(ValueError, match=r"y is .*rows.csv; files in a tuple \(X, y\) are .npy"):
        scan((tmp_path / "rows.npy", tmp_path / "rows.csv"))


@pytest.mark.parametrize("ending", ["parquet", "arrow", "npy", "h5", "csv.gz", "feather"])
@pytest.mark.parametrize("share", [0.0, 0.6])
def test_files_that_were_cut_off(tmp_path, ending, share):
    path = tmp_path / f"rows.{ending}"
    write(path, np.abs(numbers(3000, 4)) + 1)
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    sentence = f"rows.{ending} (cannot be read as|is shorter than its header|after row)"
    with pytest.raises(ValueError, match=sentence):
        list(scan(path, features=["a"]) if ending in TABLES else scan(path))


def test_damage_inside_of_files(tmp_path):
    rows = write(tmp_path / "rows.parquet", np.abs(numbers(3000, 4)) + 1)
    spoil(tmp_path / "rows.parquet")
    rows = scan(tmp_path / "rows.parquet", target="y")
    refused(rows, "rows.parquet cannot be read as Parquet, it may be damaged or incomplete: ")
    write_hdf5(tmp_path / "rows.h5", {"X": numbers(3000, 4)}, pieces=True)
    spoil(tmp_path / "rows.h5")
    refused(scan(tmp_path / "rows.h5"), "rows.h5 cannot be read as HDF5, it may be damaged")
    write_zarr(tmp_path / "rows.zarr", {"": numbers(3000, 4)})
    piece = next(path for path in (tmp_path / "rows.zarr").iterdir() if path.name[0] == "4")
    piece.write_bytes(b"no")
    refused(scan(tmp_path / "rows.zarr"), "rows.zarr cannot be read as Zarr, it may be damaged")


def spoil(path):
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[middle : middle + 400] = b"\xff" * 400
    path.write_bytes(content)


def test_pickled_objects_are_never_loaded(tmp_path):
    np.save(tmp_path / "rows.npy", np.array([[print, 1]], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"rows.npy holds pickled objects, which are never loaded"):
        scan(tmp_path / "rows.npy")
    (tmp_path / "rows.npy").write_bytes(b"\x80\x04]\x94.")
    with pytest.raises(ValueError, match=r"rows.npy cannot be read as a NumPy array"):
        scan(tmp_path / "rows.npy")


@pytest.mark.parametrize(
    ("ending", "library", "extra"),
    [
        ("parquet", "pyarrow", "parquet"),
        ("csv", "pyarrow", "parquet"),
        ("arrow", "pyarrow", "parquet"),
        ("h5", "h5py", "hdf5"),
        ("zarr", "zarr", "zarr"),
    ],
)
def test_a_missing_library_is_named_with_its_remedy(tmp_path, monkeypatch, ending, library, extra):
    (tmp_path / f"rows.{ending}").touch()
    for name in [library, *[name for name in sys.modules if name.startswith(f"{library}.")]]:
        monkeypatch.setitem(sys.modules, name, None)
    sentence = rf"needs {library}, which is missing: pip install 'elmband\[{extra}\]'$"
    with pytest.raises(ImportError, match=sentence):
        scan(tmp_path / f"rows.{ending}")


class TestChangedFiles:
    @pytest.fixture(params=["parquet", "csv", "npy", "h5", "v2.zarr"])
    def rows(self, request, tmp_path):
        self.path = tmp_path / f"rows.{request.param}"
        return write(self.path, np.abs(numbers(2000, 4)) + 1)

    def touch(self):
        file = next(self.path.rglob("0*")) if self.path.is_dir() else self.path
        now = file.stat().st_mtime_ns
        os.utime(file, ns=(now, now + 1_000_000))

    def test_between_passes(self, rows):
        list(rows)
        self.touch()
        refused(rows, f"{self.path.name} changed while it was being read; scan it again")
        with pytest.raises(ValueError, match="changed while it was being read; scan it again"):
            rows.check_unchanged()

    def test_during_a_pass(self, rows):
        chunks = iter(rows)
        next(chunks)
        self.touch()
        refused(chunks, f"{self.path.name} changed while it was being read; scan it again")

    def test_before_the_first_pass(self, rows):
        self.touch()
        refused(rows, f"{self.path.name} changed while it was being read; scan it again")

    def replace(self):
        """Put another file in the place of one, with the same size and time."""
        file = next(self.path.rglob("0*")) if self.path.is_dir() else self.path
        other = self.path.with_name("other")
        shutil.copy2(file, other)
        other.replace(file)

    def test_by_others_of_the_same_size_and_time(self, rows):
        list(rows)
        self.replace()
        refused(rows, f"{self.path.name} changed while it was being read; scan it again")

    def test_in_place_with_the_time_set_back(self, rows):
        list(rows)
        file = next(self.path.rglob("0*")) if self.path.is_dir() else self.path
        before = file.stat()
        file.write_bytes(file.read_bytes())
        os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
        refused(rows, f"{self.path.name} changed while it was being read; scan it again")

    def test_another_machine_may_number_files_otherwise(self, rows):
        elsewhere = pickle.loads(pickle.dumps(rows))  # noqa: S301 - our own
        begun = rows.fingerprint()
        self.replace()
        assert sum(len(chunk.X) for chunk in elsewhere) == 2000
        assert elsewhere.fingerprint() == begun
        self.touch()
        refused(elsewhere, f"{self.path.name} changed while it was being read; scan it again")


def test_a_file_that_was_removed(tmp_path):
    rows = write(tmp_path / "rows.npy", np.abs(numbers(200, 4)) + 1)
    (tmp_path / "rows.npy").unlink()
    refused(rows, "rows.npy does not exist", FileNotFoundError)


def test_a_file_that_becomes_shorter_while_it_is_read(tmp_path):
    rows = write(tmp_path / "rows.npy", np.abs(numbers(2000, 4)) + 1)
    chunks = iter(rows)
    next(chunks)
    os.truncate(tmp_path / "rows.npy", 10_000)
    refused(chunks, "rows.npy changed while it was being read; it became shorter")


class TestFingerprint:
    def test_of_files_is_that_of_their_names_and_stamps(self, tmp_path):
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            write_table(tmp_path / name / "rows.parquet", {"a": [1.0, 2.0], "y": [3.0, 4.0]})
            os.utime(tmp_path / name / "rows.parquet", ns=(10**18, 10**18))
        one, two = (tmp_path / name / "rows.parquet" for name in ("one", "two"))
        first = scan(one, target="y").fingerprint()
        assert int(first, 16) > 0
        assert scan(two, target="y", chunk_size=1).fingerprint() == first
        assert scan(one, target="a").fingerprint() != first
        assert scan(one, target=["y"]).fingerprint() != first
        assert scan([one, two], target="y").fingerprint() != first
        os.utime(two, ns=(10**18, 10**18 + 1))
        assert scan(two, target="y").fingerprint() != first
        renamed = one.rename(one.with_name("others.parquet"))
        assert scan(renamed, target="y").fingerprint() != first

    @pytest.mark.parametrize("make", [np.asarray, pd.DataFrame, pl.DataFrame])
    def test_of_arrays_is_that_of_their_shape_and_values(self, make):
        values = numbers(1000, 3)
        first = scan(make(values), target=0).fingerprint()
        assert scan(make(values.copy()), target=0).fingerprint() == first
        assert scan(make(values[:-1]), target=0).fingerprint() != first
        assert scan(make(values.astype(np.float32)), target=0).fingerprint() != first
        assert scan(make(values + 1), target=0).fingerprint() != first
        changed = values.copy()
        changed[-1, 2] += 1
        assert scan(make(changed), target=0).fingerprint() != first

    def test_of_functions_is_that_of_their_names_and_first_pieces(self):
        def one():
            yield np.arange(12.0).reshape(4, 3)
            raise AssertionError

        def two():
            return one()

        def made(factor):
            return lambda: iter([factor * np.ones((4, 3))])

        assert scan(one).fingerprint() == scan(one, chunk_size=3).fingerprint()
        assert scan(one).fingerprint() != scan(two).fingerprint()
        assert scan(made(1)).fingerprint() == scan(made(1)).fingerprint()
        assert scan(made(1)).fingerprint() != scan(made(2)).fingerprint()
        assert scan(one, target=0).fingerprint() != scan(one).fingerprint()


@pytest.mark.parametrize("encoder", [None, TableEncoder()])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "it is empty"),
        (b"a,y\n1,2\n" + b"x" * 3_000_000 + b",3\n", ".*line is longer than 1 MB"),
        (b"a," + b"y" * 3_000_000 + b"\n1,2\n", ".*line is longer than 1 MB"),
        (b'a,y\n1,"2\n' + b"3,4\n" * 600_000, "a line .* a quote may have been left open"),
        (b"a,y\n1,2\n2\n", r"line 3 has another number of cells \(1\) than the first \(2\)"),
    ],
)
def test_what_is_wrong_with_a_csv_file_is_said_in_our_words(tmp_path, content, words, encoder):
    path = tmp_path / "rows.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"rows\.csv.* cannot be read as CSV.*: {words}"):
        list(scan(path, target=-1, encoder=encoder).chunks())


def test_what_is_no_gzip_file(tmp_path):
    (tmp_path / "rows.csv.gz").write_bytes(b"a,y\n1,2\n")
    with pytest.raises(ValueError, match="it is no gzip file, or a damaged one"):
        scan(tmp_path / "rows.csv.gz", target=-1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "rows.csv")
    for path in (tmp_path / "rows.csv", tmp_path, tmp_path / "*.csv"):
        with pytest.raises(ValueError, match=r"rows\.csv is a pipe or a device"):
            scan(path, target=-1)
