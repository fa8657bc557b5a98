"""Three million flights, read from ELMBAND_DATA."""

import pyarrow.compute as pc
import pytest
from pyarrow import parquet

from elmband.sources.stream import scan

pytestmark = pytest.mark.realdata


def test_flights_are_read_as_pyarrow_reads_them(data_folder):
    path = data_folder / "flights" / "flights-3m.parquet"
    table = parquet.read_table(path, columns=["delay", "distance"])
    rows = scan(path, target="delay", features=["distance"])
    assert len(rows) == table.num_rows == 3_000_000
    delay = sum(float(chunk.Y.sum()) for chunk in rows)
    distance = sum(float(chunk.X.sum()) for chunk in rows)
    # Whole numbers: their sums are exact.
    assert delay == pc.sum(table["delay"]).as_py()
    assert distance == pc.sum(table["distance"]).as_py()
    last = list(rows.chunks(1_000_000, start=2))
    assert [chunk.X.shape for chunk in last] == [(1_000_000, 1)]
    assert last[0].Y[-1, 0] == table["delay"][-1].as_py()


def test_the_other_columns_of_flights_are_refused(data_folder):
    path = data_folder / "flights" / "flights-3m.parquet"
    with pytest.raises(ValueError, match=r"column 'date' is of type timestamp.*, not numbers"):
        scan(path, target="delay")
