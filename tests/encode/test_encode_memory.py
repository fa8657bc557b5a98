"""Memory stays flat however many rows and levels there are, and optional libraries stay so."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

needs_peak = pytest.mark.skipif(
    not Path("/proc/self/status").exists(), reason="only Linux tells the peak of a process"
)

PEAK = """
from pathlib import Path
import pyarrow.parquet
from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

before = peak()
rows = scan({path!r}, target="y", encoder=TableEncoder())
print(rows.n_features, sum(len(chunk.X) for chunk in rows), (peak() - before) // 1024)
"""


def run(program):
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
@needs_peak
def test_a_name_for_every_row_takes_no_memory(tmp_path):
    path, n_rows = tmp_path / "rows.parquet", 1_500_000
    rng = np.random.default_rng(0)
    schema = pa.schema({"name": pa.string(), "place": pa.string(), "y": pa.float64()})
    with parquet.ParquetWriter(path, schema) as writer:
        for first in range(0, n_rows, 100_000):
            names = [f"a name of some length, number {k}" for k in range(first, first + 100_000)]
            places = rng.choice([f"place {k}" for k in range(30)], 100_000)
            table = {"name": names, "place": places, "y": rng.normal(size=100_000)}
            writer.write_table(pa.table(table, schema))
    n_features, count, rose = map(int, run(PEAK.format(path=str(path))).split())
    # The names are left out; of the others all levels are frequent.
    assert (n_features, count) == (30, n_rows)
    # It is the same with more rows; counted one by one, these names would take 400 MB.
    assert rose < 250


@pytest.mark.slow
def test_tables_of_polars_need_no_other_library():
    program = """
import sys
sys.modules.update(dict.fromkeys(["pyarrow", "h5py", "zarr", "pandas"]))
import polars as pl
from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan
table = pl.DataFrame({"x": ["a", "b"] * 4, "k": [1, None] * 4, "y": range(8)})
rows = scan(table, target="y", encoder=TableEncoder())
print(sum(chunk.X.shape[1] for chunk in rows))
"""
    assert run(program).strip() == "3"


@pytest.mark.slow
def test_tables_of_pandas_need_no_other_library():
    program = """
import sys
sys.modules.update(dict.fromkeys(["h5py", "zarr", "polars"]))
import pandas as pd
from elmband.sources.encode import TableEncoder
table = pd.DataFrame({"x": pd.Series(["a", "b"] * 4, dtype=object), "k": [1, None] * 4})
print(TableEncoder().fit_transform(table).shape[1])
"""
    assert run(program).strip() == "3"
