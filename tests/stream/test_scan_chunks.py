"""Chunks depend on the rows and on the chunk size, not on how rows are stored."""

import tempfile
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from written import MATRICES, TABLES, joined, numbers, write_matrix, write_table

from elmband.engines import engine
from elmband.sources.stream import scan
from elmband.sums.moments import gram
from elmband.sums.rows import ArrayRows

VALUES = numbers(400, 4)
X, Y, S = VALUES[:, :2], VALUES[:, [2]], np.abs(VALUES[:, 3]) + 1


def assert_same_chunks(found, X, Y, s, size):
    """Compare with slices of the whole."""
    found = list(found)
    assert len(found) == -(-len(X) // size)
    for k, chunk in enumerate(found):
        part = slice(k * size, (k + 1) * size)
        np.testing.assert_array_equal(chunk.X, X[part])
        np.testing.assert_array_equal(chunk.Y, Y[part])
        np.testing.assert_array_equal(chunk.s, s[part])


def write_parts(folder, ending, cuts, group):
    ends = [0, *sorted(cuts), len(VALUES)]
    for k, (first, stop) in enumerate(pairwise(ends)):
        path = Path(folder) / f"part-{k:02}.{ending}"
        if ending in TABLES:
            columns = {"a": X[:, 0], "b": X[:, 1], "y": Y[:, 0], "s": S}
            names = sorted(columns, reverse=k % 2 == 1)
            write_table(path, {n: columns[n][first:stop] for n in names}, group)
        else:
            write_matrix(path, np.column_stack([X, Y, S])[first:stop])


SPLITS = {
    "cuts": st.lists(st.integers(0, len(VALUES)), max_size=4),
    "group": st.integers(1, 150),
    "size": st.integers(1, 500),
    "start": st.integers(0, 6),
}


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["parquet", "csv", "arrow", "ipc", "npy", "pieces.hdf5"])
@given(**SPLITS)
def test_chunks_are_slices_of_all_rows_for_any_split(ending, cuts, group, size, start):
    with tempfile.TemporaryDirectory() as folder:
        write_parts(folder, ending, cuts, group)
        if ending in TABLES:
            rows = scan(folder, target="y", features=["a", "b"], weight="s")
        else:
            rows = scan(folder, target=2, weight=3)
        assert_same_chunks(rows.chunks(size), X, Y, S, size)
        skipped = start * size
        rest = rows.chunks(size, start=start)
        assert_same_chunks(rest, X[skipped:], Y[skipped:], S[skipped:], size)


@pytest.mark.one_quick
@pytest.mark.parametrize("ending", [*TABLES, *MATRICES])
def test_starting_late_gives_the_same_chunks(tmp_path, ending):
    write_parts(tmp_path, ending, [50, 330], 70)
    by_name = {"target": "y", "features": ["a", "b"], "weight": "s"}
    rows = scan(tmp_path, **by_name if ending in TABLES else {"target": 2, "weight": 3})
    for start in range(9):
        later = slice(start * 60, None)
        assert_same_chunks(rows.chunks(60, start), X[later], Y[later], S[later], 60)


def with_zeros():
    weights = S.copy()
    weights[40:110] = 0
    weights[350:] = 0
    weights[7] = 0
    return weights


@pytest.mark.parametrize("as_function", [False, True])
def test_rows_of_weight_zero_are_left_out_and_empty_chunks_too(as_function):
    weights = with_zeros()
    piece = (X, Y, weights)
    rows = scan((lambda: iter([piece])) if as_function else piece, chunk_size=20)
    found = list(rows)
    np.testing.assert_array_equal(joined(found)[0], X[weights > 0])
    assert [len(c.X) for c in found] == [19, 20, 10, *[20] * 11, 10]
    assert rows.n_rows == 400
    for start in range(16):
        rest = list(rows.chunks(20, start))
        assert len(rest) == max(len(found) - start, 0)
        for chunk, expected in zip(rest, found[start:], strict=True):
            np.testing.assert_array_equal(chunk.X, expected.X)
            np.testing.assert_array_equal(chunk.s, expected.s)


@given(st.lists(st.integers(0, 90), min_size=1, max_size=8), st.integers(1, 120))
def test_pieces_of_any_length_make_the_same_chunks(lengths, size):
    n = sum(lengths)
    ends = np.cumsum([0, *lengths])
    values = numbers(n, 3)
    pieces = [(values[a:b, :2], values[a:b, 2]) for a, b in pairwise(ends)]
    if n == 0:
        with pytest.raises(ValueError, match="has no rows; there is nothing to read"):
            scan(pieces)
        return
    for rows in (scan(pieces), scan(lambda: iter(pieces))):
        found = list(rows.chunks(size))
        assert [len(c.X) for c in found] == [size] * (n // size) + [n % size] * (n % size > 0)
        np.testing.assert_array_equal(joined(found)[0], values[:, :2])
        np.testing.assert_array_equal(joined(found)[1], values[:, 2:])
        assert rows.n_rows == n


@pytest.mark.parametrize(
    ("n_features", "dtype", "expected"),
    [
        (1, np.float64, 16384),
        (64, np.float64, 8192),
        (100, np.float32, 8192),
        (300, np.float64, 2048),
        (5000, np.float64, 1024),
    ],
)
def test_a_chunk_takes_about_four_mebibytes(n_features, dtype, expected):
    rows = scan(np.zeros((1, n_features), dtype))
    assert rows.chunk_size == expected
    assert scan(np.zeros((1, 3)), chunk_size=7).chunk_size == 7


def test_iterating_twice_at_the_same_time(tmp_path):
    path = write_table(tmp_path / "rows.parquet", {"a": X[:, 0], "y": Y[:, 0]})
    rows = scan(path, target="y", chunk_size=90)
    for one, other in zip(rows, rows, strict=True):
        assert one.X is not other.X
        np.testing.assert_array_equal(one.X, other.X)


def test_sums_over_a_scan_are_those_over_arrays(tmp_path):
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", Y[:, 0])
    rows = scan((tmp_path / "X.npy", tmp_path / "y.npy"), chunk_size=33)
    expected = gram(ArrayRows(X, Y).whole())
    found = engine.total(rows, gram)
    np.testing.assert_allclose(found.HtH, expected.HtH, rtol=1e-12)
    np.testing.assert_allclose(found.HtY, expected.HtY, rtol=1e-12)
    assert found.n == 400


def test_skipping_reads_no_rows_before(tmp_path, monkeypatch):
    path = write_table(tmp_path / "rows.parquet", {"a": X[:, 0], "y": Y[:, 0]}, group=100)
    read = []
    plain = pa.parquet.ParquetFile.iter_batches

    def spy(self, *args, row_groups, **kwargs):
        read.extend(row_groups)
        return plain(self, *args, row_groups=row_groups, **kwargs)

    monkeypatch.setattr(pa.parquet.ParquetFile, "iter_batches", spy)
    list(scan(path, target="y").chunks(50, start=5))
    assert read == [2, 3]


@pytest.mark.parametrize("value", [0, -1, 1.5, True, "many"])
def test_sizes_that_are_no_whole_numbers(value):
    with pytest.raises(ValueError, match="chunk_size must be a whole number of at least 1"):
        scan(X, chunk_size=value)
    with pytest.raises(ValueError, match="chunk_size must be a whole number of at least 1"):
        scan(X).chunks(value)
    if value != 0:
        with pytest.raises(ValueError, match="start must be a whole number of at least 0"):
            scan(X).chunks(start=value)
