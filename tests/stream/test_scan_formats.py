"""The same numbers are read from every format."""

import decimal
import pickle

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from written import (
    MATRICES,
    TABLES,
    ZARR_FORMATS,
    joined,
    numbers,
    write_hdf5,
    write_matrix,
    write_table,
    write_zarr,
)

from elmband.sources.stream import scan

DTYPES = [np.float32, np.float64, np.float16, np.int64, np.int16, np.uint8, np.bool_]
SMALL = {np.float32, np.float16, np.int16, np.uint8, np.bool_}


def made(dtype, n_rows=2000, n_columns=5):
    values = numbers(n_rows, n_columns, np.float64 if dtype == np.bool_ else np.int64)
    if dtype in {np.float32, np.float64, np.float16}:
        return (values / 8).astype(dtype)
    return (values > 0) if dtype == np.bool_ else np.abs(values % 100).astype(dtype)


def assert_reads(rows, X, Y, s=None):
    found = joined(rows.chunks(300))
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1], Y)
    if s is None:
        assert found[2] is None
    else:
        np.testing.assert_array_equal(found[2], s)
    for chunk in rows:
        assert chunk.X.flags.c_contiguous
        assert (chunk.X.dtype, chunk.Y.dtype) == (rows.dtype, np.float64)


# pyarrow does not write float16 as text.
PAIRS = [(e, d) for e in TABLES for d in DTYPES if e[:3] != "csv" or d != np.float16]


@pytest.mark.one_quick
@pytest.mark.parametrize(("ending", "dtype"), PAIRS, ids=lambda x: getattr(x, "__name__", x))
def test_a_table_is_read_by_names(tmp_path, ending, dtype):
    values = made(dtype)
    columns = {name: values[:, j] for j, name in enumerate("abcd")} | {"note": ["text"] * 2000}
    columns["w"] = np.abs(values[:, 4].astype(np.float64)) + 1
    path = write_table(tmp_path / f"rows.{ending}", columns)
    rows = scan(path, target="c", features=["d", "a"], weight="w")
    assert_reads(rows, values[:, [3, 0]], values[:, [2]], columns["w"])
    assert rows.feature_names == ("d", "a")
    assert rows.target_names == ("c",)
    assert rows.has_weights
    assert rows.single_output
    is_small = dtype in SMALL and not ending.startswith("csv")
    assert rows.dtype == (np.float32 if is_small else np.float64)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("ending", MATRICES)
def test_a_matrix_is_read_by_indices(tmp_path, ending, dtype):
    values = made(dtype)
    path = write_matrix(tmp_path / f"rows.{ending}", values)
    rows = scan(path, target=-2)
    assert_reads(rows, values[:, [0, 1, 2, 4]], values[:, [3]])
    assert_reads(scan(path, target=[4, 0], features=[3, 1]), values[:, [3, 1]], values[:, [4, 0]])
    assert_reads(scan(path), values, np.empty((2000, 0)))
    assert rows.dtype == (np.float32 if dtype in SMALL else np.float64)
    assert rows.feature_names is None
    assert rows.target_names is None
    assert (rows.n_features, rows.n_outputs, rows.n_rows) == (4, 1, 2000)


@pytest.mark.parametrize("ending", [*TABLES, *MATRICES])
def test_what_is_known_before_reading(tmp_path, ending):
    values = numbers(2000, 3)
    if ending in TABLES:
        path = write_table(tmp_path / f"rows.{ending}", dict(zip("abc", values.T, strict=True)))
        rows = scan(path, target="c")
    else:
        rows = scan(write_matrix(tmp_path / f"rows.{ending}", values), target=2)
    known = ending not in {"csv", "csv.gz", "ipc"}
    assert rows.n_rows == (2000 if known else None)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert rows.nbytes == sum(path.stat().st_size for path in files)
    list(rows)
    assert len(rows) == rows.n_rows == 2000


@pytest.mark.parametrize("mixed", [">f4", "<f8", ">i2"])
def test_numbers_of_the_other_byte_order(tmp_path, mixed):
    values = numbers(500, 3, np.int64).astype(mixed)
    np.save(tmp_path / "rows.npy", values)
    assert_reads(scan(tmp_path / "rows.npy", target=0), values[:, 1:], values[:, :1])


def write_store(path, arrays):
    if path.suffix == ".zarr":
        return write_zarr(path, arrays, version=int(path.stem[-1]))
    return write_hdf5(path, arrays, pieces=path.stem == "pieces")


@pytest.mark.one_quick
@pytest.mark.parametrize("name", ["plain.h5", "pieces.h5", *[f"v{v}.zarr" for v in ZARR_FORMATS]])
def test_data_sets_are_read_by_names(tmp_path, name):
    X, Y, s = numbers(1000, 4, np.float32), numbers(1000, 2, seed=1), np.arange(1000.0) + 1
    arrays = {"X": X, "Y": Y, "in/y": Y[:, 0].copy(), "s": s, "a": X[:, 1].copy()}
    path = write_store(tmp_path / name, arrays)
    rows = scan(path, target="in/y", features="X", weight="s")
    assert_reads(rows, X, Y[:, :1], s)
    assert rows.single_output
    assert rows.target_names == ("in/y",)
    assert rows.dtype == np.float32
    several = scan(path, target="/Y", features=["a", "s"])
    assert_reads(several, np.column_stack([X[:, 1], s]), Y)
    assert not several.single_output
    assert several.feature_names == ("a", "s")
    assert_reads(
        scan(path, target=["in/y"], features=["a", "X"]), np.column_stack([X[:, 1], X]), Y[:, :1]
    )
    # With Y named, X is the only one left with two dimensions.
    assert_reads(scan(path, target="Y"), X, Y)
    assert_reads(scan(path, target="Y", features=[3, 0]), X[:, [3, 0]], Y)


def test_links_to_data_sets_are_followed(tmp_path):
    X, y = numbers(100, 2), numbers(100, 1, seed=1)[:, 0]
    write_hdf5(tmp_path / "other.h5", {"y": y})
    path = write_hdf5(tmp_path / "rows.h5", {"X": X, "in/y": y})
    with h5py.File(path, "a") as file:
        file["soft"], file["twice"] = h5py.SoftLink("/X"), file["in/y"]
        file["group"], file["nowhere"] = h5py.SoftLink("/in"), h5py.SoftLink("/no")
        file["outside"] = h5py.ExternalLink("other.h5", "/y")
    for target in ("in/y", "group/y", "twice", "outside"):
        assert_reads(scan(path, target=target, features="/soft"), X, y[:, None])
    # They are no data sets of their own.
    assert_reads(scan(path, target="group/y"), X, y[:, None])
    rows = scan(path, target="outside", features=["soft"])
    rows = pickle.loads(pickle.dumps(rows))  # noqa: S301 - our own
    assert_reads(rows, X, y[:, None])
    write_hdf5(tmp_path / "other.h5", {"y": y, "more": y})
    with pytest.raises(ValueError, match=r"other.h5 changed while it was being read"):
        rows.check_unchanged()
    for name in ("nowhere", "group", "none"):
        with pytest.raises(ValueError, match=f"rows.h5 has no data set '{name}'"):
            scan(path, target=name)


def test_decimals_and_row_labels_of_pandas_in_parquet(tmp_path):
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": [decimal.Decimal("0.25"), decimal.Decimal("7.5")]})
    frame.index = pd.Index([10, 20])
    frame.to_parquet(tmp_path / "rows.parquet")
    rows = scan(tmp_path / "rows.parquet")
    assert rows.feature_names == ("a", "b")
    np.testing.assert_array_equal(next(iter(rows)).X, [[1.5, 0.25], [2.5, 7.5]])


def test_text_that_means_true_and_false(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b,y\n1,true,2\n2.5,false,3\n")
    X, Y, *_ = next(iter(scan(tmp_path / "rows.csv", target="y")))
    np.testing.assert_array_equal(X, [[1, 1], [2.5, 0]])
    np.testing.assert_array_equal(Y, [[2], [3]])


def test_whole_numbers_at_first_and_fractions_later(tmp_path):
    lines = [f"{k},{k}" for k in range(200_000)] + ["0.5,1e-3"]
    (tmp_path / "rows.csv").write_text("a,y\n" + "\n".join(lines))
    *_, last = scan(tmp_path / "rows.csv", target="y")
    assert last.X[-1, 0] == 0.5
    assert last.Y[-1, 0] == 1e-3


TABLE = {"a": [1.5, 2.5, 3.5], "k": [1, 2, 3], "b": [True, False, True]}


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame(TABLE),
        pd.DataFrame(TABLE).convert_dtypes(),
        pd.DataFrame(TABLE).convert_dtypes(dtype_backend="pyarrow"),
        pl.DataFrame(TABLE),
        pl.DataFrame(TABLE).with_columns(pl.col("k").cast(pl.Decimal(10, 2))),
        pa.table(TABLE),
        pa.concat_tables([pa.table(TABLE).slice(0, 1), pa.table(TABLE).slice(1)]),
        pa.RecordBatch.from_pydict(TABLE),
    ],
    ids=["pandas", "masked", "arrow-backed", "polars", "decimal", "arrow", "joined", "batch"],
)
def test_tables_in_memory(table):
    rows = scan(table, target="k")
    assert rows.feature_names == ("a", "b")
    assert rows.n_rows == 3
    X, Y, s = joined(rows.chunks(2))
    np.testing.assert_array_equal(X, [[1.5, 1], [2.5, 0], [3.5, 1]])
    np.testing.assert_array_equal(Y, [[1], [2], [3]])
    assert s is None


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_small_types_of_tables_stay_small(make):
    table = make({"a": np.arange(3, dtype=np.float32), "b": np.arange(3, dtype=np.int16)})
    assert scan(table).dtype == np.float32
    assert scan(make({"a": np.arange(3, dtype=np.int32)})).dtype == np.float64


def test_a_data_set_of_an_open_file_is_an_array(tmp_path):
    X = numbers(1000, 3)
    write_hdf5(tmp_path / "rows.h5", {"X": X}, pieces=True)
    with h5py.File(tmp_path / "rows.h5") as file:
        assert_reads(scan((file["X"], X[:, 0])), X, X[:, :1])
