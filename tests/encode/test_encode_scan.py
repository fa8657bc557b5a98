"""Encoded while it is read: files, chunks, weights and targets."""

from itertools import pairwise

import h5py
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st
from mixed import FORMATS, mixed, write

from elmband import ELMIntervalRegressor
from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

TABLE = mixed(500).append_column("y", pa.array(np.random.default_rng(5).normal(size=500)))
FEATURES = TABLE.drop("y")
WHOLE = TableEncoder().fit(FEATURES)
X, Y = WHOLE.transform(FEATURES), TABLE["y"].to_numpy()


def joined(rows, **how):
    chunks = list(rows.chunks(**how))
    return tuple(
        None if parts[0] is None else np.concatenate(parts) for parts in zip(*chunks, strict=True)
    )


def without_parameters(state):
    return state.columns, state.dtype, state.n_rows, state.min_count


@pytest.mark.parametrize("ending", FORMATS)
def test_files_of_every_format_are_encoded_as_in_memory(tmp_path, ending):
    rows = scan(write(tmp_path / f"rows.{ending}", TABLE), target="y", encoder=TableEncoder())
    assert "11 columns to encode" in repr(rows)
    assert rows.n_features == X.shape[1]
    assert rows.feature_names == tuple(WHOLE.get_feature_names_out())
    assert "29 features" in repr(rows)
    assert rows.dtype == np.float64
    found = joined(rows)
    # CSV has fewer digits of float32, and durations as numbers.
    tolerance = 1e-6 if ending.startswith("csv") else 0
    np.testing.assert_allclose(found[0], X, rtol=tolerance)
    np.testing.assert_array_equal(found[1][:, 0], Y)
    if not ending.startswith("csv"):
        assert rows.encoder.state_ == WHOLE.state_
    first = next(rows.chunks(50, start=3))
    np.testing.assert_allclose(first.X, X[150:200], rtol=tolerance)


@pytest.mark.parametrize("library", [lambda t: t, lambda t: t.to_pandas(), pl.from_arrow])
def test_tables_in_memory_are_read_in_chunks(library):
    rows = scan(library(TABLE), target="y", encoder=TableEncoder(), chunk_size=70)
    np.testing.assert_array_equal(joined(rows)[0], X)
    assert rows.encoder.state_ == WHOLE.state_
    apart = scan((library(FEATURES), library(TABLE)["y"]), encoder=TableEncoder(), chunk_size=70)
    found = joined(apart)
    np.testing.assert_array_equal(found[0], X)
    np.testing.assert_array_equal(found[1][:, 0], Y)


@pytest.mark.slow
@given(
    cuts=st.lists(st.integers(1, 499), max_size=4, unique=True),
    sizes=st.tuples(st.integers(5, 600), st.integers(5, 600)),
    order=st.randoms(use_true_random=False),
)
def test_pieces_and_chunks_do_not_matter(cuts, sizes, order):
    ends = [0, *sorted(cuts), 500]
    pieces = [TABLE.slice(a, b - a) for a, b in pairwise(ends)]
    rows = scan(pieces, target="y", encoder=TableEncoder(), chunk_size=sizes[0])
    np.testing.assert_array_equal(joined(rows)[0], X)
    np.testing.assert_array_equal(joined(rows, chunk_size=sizes[1])[0], X)
    shuffled = order.sample(pieces, len(pieces))
    encoder = TableEncoder()
    encoder.fit(scan(lambda: iter(shuffled), target="y", encoder=encoder))
    assert encoder.state_ == rows.encoder.state_ == WHOLE.state_


def test_an_encoder_may_be_fitted_before(tmp_path):
    path = write(tmp_path / "rows.parquet", TABLE)
    rows = scan(path, target="y", encoder=WHOLE)
    np.testing.assert_array_equal(joined(rows)[0], X)
    # Only what the encoder needs is read: neither the target nor constant columns.
    new = scan(TABLE.drop(["same", "name"]), encoder=WHOLE)
    np.testing.assert_array_equal(joined(new)[0], X)
    assert new.n_outputs == 0
    with pytest.raises(ValueError, match="has no column 'colour'; it has 'size'"):
        scan(TABLE.drop(["colour"]), encoder=WHOLE)
    lacking = scan(path, features=["size", "count"], encoder=WHOLE)
    with pytest.raises(ValueError, match="has no feature 'whole', on which the encoder was fitted"):
        list(lacking)
    with pytest.raises(ValueError, match="column 'colour' is chosen twice"):
        scan(path, target="colour", encoder=WHOLE)


def test_an_encoder_is_fitted_by_the_scan_that_is_read_first():
    encoder = TableEncoder()
    train = scan(TABLE.slice(0, 300), target="y", encoder=encoder)
    test = scan(TABLE.slice(300), target="y", encoder=encoder)
    assert not hasattr(encoder, "state_")
    list(train)
    assert encoder.state_.n_rows == 300
    alone = TableEncoder().fit(FEATURES.slice(0, 300))
    np.testing.assert_array_equal(joined(test)[0], alone.transform(FEATURES.slice(300)))
    other = test.with_encoder(WHOLE)
    assert other.encoder is WHOLE
    np.testing.assert_array_equal(joined(other)[0], X[300:])
    assert test.encoder is encoder


def test_arrays_have_missing_numbers_only():
    values = np.array([[1.0, np.nan, 5.0], [2.0, 3.0, 6.0], [4.0, 5.0, 7.0]])
    rows = scan(values, target=2, encoder=TableEncoder())
    assert rows.feature_names == ("x0", "x1", "x1=missing")
    np.testing.assert_array_equal(joined(rows)[0], [[1, 4, 1], [2, 3, 0], [4, 5, 0]])
    fitted = TableEncoder().fit(values[:, :2])
    np.testing.assert_array_equal(joined(scan(values[:, :2], encoder=fitted))[0][0], [1, 4, 1])
    with pytest.raises(ValueError, match="has 3 features, but the encoder was fitted on 2; choose"):
        list(scan(values, encoder=fitted))
    by_name = scan(values, encoder=WHOLE)
    with pytest.raises(ValueError, match="has no feature 'size', on which the encoder was fitted"):
        list(by_name)
    with pytest.raises(ValueError, match="is of type <U1, not numbers"):
        scan(np.array([["a"], ["b"]]), encoder=TableEncoder())


@pytest.mark.parametrize("ending", ["npy", "h5", "zarr"])
def test_files_of_arrays_may_have_gaps(tmp_path, ending):
    values = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    values[::7, 1] = np.nan
    path = tmp_path / f"rows.{ending}"
    if ending == "npy":
        np.save(path, values)
    elif ending == "h5":
        with h5py.File(path, "w") as file:
            file["data"] = values
    else:
        zarr.save(str(path), values)
    rows = scan(path, target=2, encoder=TableEncoder(), chunk_size=30)
    assert rows.dtype == np.float32
    np.testing.assert_array_equal(joined(rows)[0], TableEncoder().fit_transform(values[:, :2]))


def test_weights_are_counts():
    counts = np.random.default_rng(2).integers(0, 3, 500)
    table = TABLE.append_column("w", pa.array(counts))
    rows = scan(table, target="y", weight="w", encoder=TableEncoder(), chunk_size=90)
    found = joined(rows)
    expected = TableEncoder().fit(FEATURES, sample_weight=counts)
    assert without_parameters(rows.encoder.state_) == without_parameters(expected.state_)
    np.testing.assert_array_equal(found[0], expected.transform(FEATURES)[counts > 0])
    np.testing.assert_array_equal(found[2], counts[counts > 0])
    assert rows.leaves_rows_out


def test_a_model_is_fitted_on_an_encoded_scan(tmp_path):
    path = write(tmp_path / "rows.parquet", TABLE)
    rows = scan(path, target="y", encoder=TableEncoder())
    neurons = {"linear": 29, "tanh": 10}
    model = ELMIntervalRegressor(neurons, random_state=0).fit(rows)
    assert list(model.feature_names_in_) == list(WHOLE.get_feature_names_out())
    in_memory = model.predict_interval(X)
    np.testing.assert_array_equal(model.predict_interval(FEATURES), in_memory)
    streamed = model.predict_interval(scan(path, encoder=rows.encoder))
    np.testing.assert_allclose(streamed, in_memory)


def test_fingerprints_tell_encoders_apart(tmp_path):
    path = write(tmp_path / "rows.parquet", TABLE)

    def fingerprint(source, encoder, **how):
        return scan(source, target="y", encoder=encoder, **how).fingerprint()

    first = fingerprint(path, TableEncoder())
    assert fingerprint(path, TableEncoder()) == first
    assert fingerprint(path, WHOLE) == fingerprint(path, TableEncoder.from_state(WHOLE.state_))
    assert fingerprint(path, TableEncoder(2)) != first
    assert fingerprint(path, TableEncoder(), missing_target="drop") != first
    for table in (TABLE, TABLE.to_pandas(), pl.from_arrow(TABLE)):
        in_memory = fingerprint(table, WHOLE)
        assert fingerprint(table, WHOLE) == in_memory
        assert fingerprint(table[:400], WHOLE) != in_memory
    text = pd.DataFrame({"x": ["a", "b"] * 3, "y": range(6)})
    encoder = TableEncoder().fit(text[["x"]])
    assert fingerprint(text, encoder) != fingerprint(text.assign(x=["b", "a"] * 3), encoder)
    apart = (text[["x"]], np.array(["u", "v"] * 3, dtype=object))
    rows = scan(apart, encoder=TableEncoder())
    assert rows.fingerprint() == scan(apart, encoder=TableEncoder()).fingerprint()
