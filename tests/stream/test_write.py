import csv
import gzip
import importlib
import subprocess
import sys
from decimal import Decimal

import h5py
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elmband.sources.stream.write import EXTENSIONS, open_writer
from elmband.sources.stream.write._file import SteadyFile
from elmband.sources.stream.write._groups import Groups

COLUMNS = ("mean", "lower_0.95", "upper_0.95")
RNG = np.random.default_rng(0)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324, 1e-7, 0.1, 1 / 3, 1e22, -7.0, 2e9 + 1])
ROWS = np.concatenate(
    [
        RNG.choice(SPECIAL, size=(50, 3)).astype(np.float64),
        RNG.standard_normal((150, 3)) * 10.0 ** RNG.integers(-30, 30, (150, 3)),
    ]
)

every_format = pytest.mark.parametrize("extension", EXTENSIONS)
both_types = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def read(path):
    """Read a file by a library that did not write it, where there is one."""
    name = path.name
    if name.endswith(".npy"):
        return None, np.load(path)
    if name.endswith((".h5", ".hdf5")):
        with h5py.File(path) as file:
            return tuple(file), np.stack([values[:] for values in file.values()], axis=1)
    if name.endswith((".csv", ".csv.gz")):
        header, *lines = read_csv(path)
        return tuple(header), np.array(lines, dtype=float).reshape(-1, len(header))
    table = pl.read_parquet(path) if name.endswith(".parquet") else pl.read_ipc(path)
    return tuple(table.columns), table.to_numpy()


def read_csv(path):
    content = path.read_bytes()
    content = gzip.decompress(content) if path.name.endswith(".gz") else content
    return list(csv.reader(content.decode().splitlines()))


def write_all(path, blocks, columns=COLUMNS, dtype=np.float64):
    with open_writer(path, columns, dtype) as write:
        for block in blocks:
            assert write(block) is None


def assert_same_bits(actual, expected):
    np.testing.assert_array_equal(actual, expected)
    np.testing.assert_array_equal(np.signbit(actual), np.signbit(expected))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@every_format
@both_types
def test_every_number_comes_back(tmp_path, extension, dtype):
    path = tmp_path / f"result{extension}"
    rows = ROWS.astype(dtype)
    write_all(path, np.split(rows, [1, 1, 60, 199]), dtype=dtype)
    columns, values = read(path)
    assert columns in {COLUMNS, None}
    if not extension.startswith(".csv"):
        assert values.dtype == dtype
    values = values.astype(dtype)
    keep = ~np.isnan(rows)
    assert_same_bits(values[keep], rows[keep])
    assert np.isnan(values[~keep]).all()
    assert names(tmp_path) == [path.name]


@every_format
@pytest.mark.parametrize("blocks", [[], [np.empty((0, 3))]], ids=["no block", "no rows"])
def test_nothing_written_is_an_empty_file_with_columns(tmp_path, extension, blocks):
    path = tmp_path / f"result{extension}"
    write_all(path, blocks)
    columns, values = read(path)
    assert columns in {COLUMNS, None}
    assert values.shape == (0, 3)


@pytest.mark.parametrize("extension", [".csv", ".csv.gz"])
@both_types
def test_csv_has_the_fewest_digits_that_tell_a_number(tmp_path, extension, dtype):
    path, rows = tmp_path / f"r{extension}", ROWS.astype(dtype)
    write_all(path, [rows], columns=("a", "b,c", 'd"e'), dtype=dtype)
    header, *lines = read_csv(path)
    assert header == ["a", "b,c", 'd"e']
    for line, row in zip(lines, rows, strict=True):
        for field, value in zip(line, row, strict=True):
            if np.isfinite(value):
                assert Decimal(field) == Decimal(str(value))
            else:
                assert field == str(value)


def test_plain_names_have_no_quotes_in_csv(tmp_path):
    write_all(tmp_path / "r.csv", [np.array([[1.0, 0.5, -2.0]])])
    assert (tmp_path / "r.csv").read_bytes() == b"mean,lower_0.95,upper_0.95\n1,0.5,-2\n"


@pytest.mark.parametrize("mode", [None, "r", "c", "r+"])
@pytest.mark.parametrize("n", [0, 1, 9, 10, 100_001])
def test_npy_is_a_valid_file_however_many_rows(tmp_path, mode, n):
    rows = np.arange(2.0 * n).reshape(n, 2)
    path = tmp_path / "r.npy"
    write_all(path, [rows[: n // 3], rows[n // 3 :]], columns=("a", "b"))
    loaded = np.load(path, mmap_mode=mode)
    assert loaded.flags.c_contiguous
    np.testing.assert_array_equal(loaded, rows)
    assert path.stat().st_size % 16 == 0


@pytest.mark.parametrize("blocks", [[200_000], [1000] * 200, [65_536, 65_536, 68_928]], ids=len)
def test_blocks_of_any_size_become_groups_of_one_size(tmp_path, blocks):
    rows = np.arange(200_000.0)[:, None]
    pieces = np.split(rows, np.cumsum(blocks)[:-1])
    sizes = [65_536, 65_536, 65_536, 200_000 - 3 * 65_536]
    write_all(tmp_path / "r.parquet", pieces, ["x"])
    file = pq.ParquetFile(tmp_path / "r.parquet")
    groups = [file.metadata.row_group(i) for i in range(file.num_row_groups)]
    assert [group.num_rows for group in groups] == sizes
    assert {group.column(0).compression for group in groups} == {"ZSTD"}
    write_all(tmp_path / "r.arrow", pieces, ["x"])
    with pa.ipc.open_file(tmp_path / "r.arrow") as batches:
        count = batches.num_record_batches
        assert [batches.get_batch(i).num_rows for i in range(count)] == sizes
    for path in tmp_path.iterdir():
        np.testing.assert_array_equal(read(path)[1], rows)


@pytest.mark.slow
@given(st.lists(st.integers(0, 3000), max_size=8), st.sampled_from([1, 4096, 40_000]))
def test_groups_keep_rows_and_order(lengths, k):
    handed = []
    groups = Groups(lambda rows: handed.append(rows[:, -1].copy()), ("x",) * k, np.dtype("f4"))
    values = np.arange(sum(lengths), dtype=np.float32)
    for part in np.split(values, np.cumsum(lengths))[:-1]:
        groups.add(np.broadcast_to(part[:, None], (len(part), k)))
    groups.flush()
    np.testing.assert_array_equal(np.concatenate([[], *handed]), values)
    assert len({len(part) for part in handed[:-1]}) <= 1
    # Wide rows come in smaller groups: 32 MiB, or 1024 rows.
    assert all(len(part) <= {1: 65_536, 4096: 2048, 40_000: 1024}[k] for part in handed)


def test_columns_of_hdf5_grow_in_chunks(tmp_path):
    write_all(tmp_path / "r.h5", [np.ones((10, 3))], dtype=np.float32)
    with h5py.File(tmp_path / "r.h5") as file:
        assert file["mean"].maxshape == (None,)
        assert file["mean"].chunks == (8192,)


@pytest.mark.one_quick
@every_format
@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, OSError])
@pytest.mark.parametrize("n", [0, 10, 70_000])
def test_after_an_exception_the_old_file_is_there_and_nothing_else(tmp_path, extension, error, n):
    path = tmp_path / f"result{extension}"
    path.write_bytes(b"old")
    mine = error("of the caller")

    def blocks():
        yield np.zeros((n, 3))
        raise mine

    with pytest.raises(error) as caught:
        write_all(path, blocks())
    assert caught.value is mine
    assert names(tmp_path) == [path.name]
    assert path.read_bytes() == b"old"


def test_the_old_file_is_replaced_at_the_end_only(tmp_path):
    path = tmp_path / "result.npy"
    path.write_bytes(b"old")
    with open_writer(str(path), COLUMNS) as write:
        write(np.zeros((100_000, 3)))
        assert path.read_bytes() == b"old"
        assert len(names(tmp_path)) == 2
    assert np.load(path).shape == (100_000, 3)


FULL_DISK = """
import resource, sys
from pathlib import Path
import numpy as np
from elmband.sources.stream.write import EXTENSIONS, open_writer

block = np.random.default_rng(0).standard_normal((50_000, 2))
for extension in EXTENSIONS:
    for blocks, limit in ((0, 2), (4, 0), (4, 10), (4, 3000), (4, 300_000), (4, 1_200_000)):
        path = Path(sys.argv[1], f"{limit}{extension}")
        path.write_bytes(b"old")
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        try:
            with open_writer(path, ["a", "b"]) as write:
                for _ in range(blocks):
                    write(block)
        except OSError as error:
            message = str(error)
        else:
            message = "no error"
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        print(message)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
"""


@pytest.mark.slow
def test_a_full_disk_is_one_sentence_and_changes_nothing(tmp_path):
    """A limit on the size of files fails like a full disk, also at exit, where HDF5 would crash."""
    pytest.importorskip("resource")
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", FULL_DISK, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    lines = result.stdout.splitlines()
    assert len(lines) == 6 * len(EXTENSIONS)
    for line in lines:
        name, _, reason = line.partition(" could not be written and is left as it was: ")
        assert name.startswith(str(tmp_path)), line
        assert reason == "File too large."
    assert len(names(tmp_path)) == len(lines)
    assert all(path.read_bytes() == b"old" for path in tmp_path.iterdir())


FLAT_MEMORY = """
import resource, sys
from pathlib import Path
import numpy as np
from elmband.sources.stream.write import open_writer

block = np.random.default_rng(0).standard_normal((20_000, 4))
def write_file(blocks):
    with open_writer(sys.argv[1], list("abcd")) as write:
        for _ in range(blocks):
            write(block)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
few = write_file(10)
print(write_file(100) - few)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is in kB on Linux")
@pytest.mark.parametrize("extension", [".arrow", ".csv", ".h5", ".npy", ".parquet"])
def test_memory_does_not_grow_with_the_rows(tmp_path, extension):
    command = [sys.executable, "-c", FLAT_MEMORY, str(tmp_path / f"r{extension}")]
    grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # 64 MB of numbers go through; a tenth of that is left to the whims of the allocator.
    assert int(grown) < 6_400


def test_a_failure_is_kept_until_asked_for(tmp_path):
    with SteadyFile(tmp_path / "file") as file:
        file.check()
        assert file.write(np.arange(3.0)) == 24
        with file._failing_later():
            raise KeyboardInterrupt
        assert file.write(b"dropped") == 7
        assert file.truncate(5) == 5
        assert file.truncate() == 24
        with pytest.raises(KeyboardInterrupt):
            file.check()
    assert (tmp_path / "file").stat().st_size == 24


def test_blocks_of_every_array_library(tmp_path, xp):
    write_all(tmp_path / "r.npy", [xp.asarray(ROWS[50:]), xp.asarray(ROWS[50:])])
    np.testing.assert_array_equal(np.load(tmp_path / "r.npy"), np.tile(ROWS[50:], (2, 1)))


@pytest.mark.parametrize("extension", [".NPY", ".Parquet", ".x.CSV.GZ"])
def test_the_case_of_the_extension_does_not_matter(tmp_path, extension):
    write_all(tmp_path / f"r{extension}", [ROWS[60:]])
    assert (tmp_path / f"r{extension}").stat().st_size > 1000


@pytest.mark.parametrize("name", ["result.xlsx", "result", "npy", "result.gz"])
def test_unknown_extensions_are_told_the_known_ones(tmp_path, name):
    with pytest.raises(ValueError, match="none of the known extensions") as caught:
        write_all(tmp_path / name, [])
    assert all(extension in str(caught.value) for extension in EXTENSIONS)
    assert not names(tmp_path)


def test_places_that_cannot_be_written(tmp_path):
    with pytest.raises(OSError, match="nowhere does not exist; make it first"):
        write_all(tmp_path / "nowhere" / "r.npy", [])
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(OSError, match=r"folder\.npy is a folder"):
        write_all(tmp_path / "folder.npy", [])
    assert names(tmp_path) == ["folder.npy"]


@pytest.mark.parametrize(
    "block",
    [np.zeros(3), np.zeros((2, 4)), np.zeros((1, 1, 3)), np.zeros((2, 3), complex), [["a"] * 3]],
    ids=["1-D", "4 columns", "3-D", "complex", "text"],
)
def test_blocks_that_do_not_fit_are_refused(tmp_path, block):
    with pytest.raises(ValueError, match=r"expected real numbers of shape \(n, 3\)"):
        write_all(tmp_path / "r.npy", [block])
    assert not names(tmp_path)


@pytest.mark.parametrize("columns", [(), "mean", ("a", "a"), ("a", ""), ("a", 1)])
def test_names_that_cannot_be_told_apart_are_refused(tmp_path, columns):
    with pytest.raises(ValueError, match="expected a list of names, no two alike"):
        write_all(tmp_path / "r.parquet", [], columns)


@pytest.mark.parametrize("name", ["a/b", ".", "a\0b"])
def test_names_that_hdf5_cannot_keep_are_refused(tmp_path, name):
    with pytest.raises(ValueError, match="HDF5 cannot name a dataset"):
        write_all(tmp_path / "r.h5", [], ["first", name])
    assert not names(tmp_path)


@pytest.mark.parametrize("dtype", [np.int64, np.float16, ">f8", "nonsense", complex])
def test_other_types_of_numbers_are_refused(tmp_path, dtype):
    with pytest.raises(ValueError, match="expected float32 or float64"):
        write_all(tmp_path / "r.npy", [], dtype=dtype)


@pytest.mark.parametrize(
    ("extension", "library", "extra"),
    [(e, "pyarrow", "parquet") for e in (".parquet", ".csv", ".csv.gz", ".arrow")]
    + [(e, "h5py", "hdf5") for e in (".h5", ".hdf5")],
)
def test_a_missing_library_names_the_installation(tmp_path, monkeypatch, extension, library, extra):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError) as caught:
        write_all(tmp_path / f"r{extension}", [])
    assert str(caught.value).endswith(
        f" needs {library}, which is missing: pip install 'elmband[{extra}]'"
    )
    assert "\n" not in str(caught.value)
    assert not names(tmp_path)


def test_npy_needs_no_other_library(tmp_path, monkeypatch):
    for library in ("pyarrow", "h5py"):
        monkeypatch.setitem(sys.modules, library, None)
    for module in [name for name in sys.modules if name.startswith("elmband.sources.stream.write")]:
        monkeypatch.delitem(sys.modules, module)
    again = importlib.import_module("elmband.sources.stream.write")
    with again.open_writer(tmp_path / "r.npy", ["x"]) as write:
        write(np.ones((2, 1)))
    assert np.load(tmp_path / "r.npy").tolist() == [[1], [1]]
