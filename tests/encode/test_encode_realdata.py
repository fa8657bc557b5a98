"""Three million flights, read from ELMBAND_DATA."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from pyarrow import parquet

from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

pytestmark = [pytest.mark.realdata, pytest.mark.slow]


@pytest.fixture(scope="module")
def path(data_folder):
    return data_folder / "flights" / "flights-3m.parquet"


@pytest.fixture(scope="module")
def table(path):
    return parquet.read_table(path)


@pytest.fixture(scope="module")
def encoder(path):
    rows = scan(path, target="delay", encoder=TableEncoder())
    return rows.encoder.fit(rows)


def test_flights_are_encoded_as_pandas_would(path, table, encoder):
    rows = scan(path, target="delay", encoder=encoder)
    assert len(rows) == 3_000_000
    names = list(rows.feature_names)
    chunk = next(rows.chunks(200_000, start=7))
    part = table.slice(1_400_000, 200_000).to_pandas()
    dummies = pd.get_dummies(part[["origin", "destination"]], prefix_sep="=", dtype=float)
    kept = [name for name in names if name in dummies]
    assert len(kept) == 208
    found = pd.DataFrame(chunk.X, columns=names)
    pd.testing.assert_frame_equal(found[kept], dummies[kept])
    np.testing.assert_array_equal(found["distance"], part["distance"])
    np.testing.assert_array_equal(np.trunc(found["date=year"]), part["date"].dt.year)
    np.testing.assert_array_equal(chunk.Y[:, 0], part["delay"])


def test_the_most_frequent_airports_have_features(table, encoder):
    counts = table["origin"].to_pandas().value_counts()
    ours = [name for name in encoder.get_feature_names_out() if name.startswith("origin=")]
    frequent = counts[counts >= 3000].index
    assert ours == [*(f"origin={name}" for name in frequent), "origin=other"]
    assert f"{len(frequent)} of 229 levels, other" in encoder.summary()


def test_files_and_memory_agree(table, encoder):
    part = table.drop("delay")
    assert TableEncoder().fit(part).state_ == encoder.state_
    assert TableEncoder().fit(pl.from_arrow(part)).state_ == encoder.state_


def test_a_million_rows_are_encoded_at_once(table, encoder):
    assert encoder.transform(table.slice(0, 1_000_000)).shape == (1_000_000, 218)
