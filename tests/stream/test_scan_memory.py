"""Memory stays flat however long the files are, and nothing is imported or read too early."""

import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from elmband.sources.stream import scan

MIB = 2**20

# What getrusage tells of a new process includes the peak of the process that started it.
STATUS = Path("/proc/self/status")

needs_peak = pytest.mark.skipif(
    not STATUS.exists(), reason="only Linux tells the peak of a process by itself"
)

PEAK = """
from pathlib import Path
import pyarrow.csv
import pyarrow.parquet
from elmband.sources.stream import scan

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))

before = peak()
rows = scan({source!r}, target={target!r})
print(sum(len(chunk.X) for chunk in rows.chunks(start={start})), (peak() - before) // 1024)
"""


def run(program):
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return result.stdout


def rise(source, target, start=0):
    """Return the number of rows read and how far memory rose meanwhile, in MiB."""
    n_rows, rose = run(PEAK.format(source=str(source), target=target, start=start)).split()
    return int(n_rows), int(rose)


def write_zeros(path, shape, dtype, order="C"):
    """Write an array that takes no space on most disks: the file has holes."""
    np.lib.format.open_memmap(path, "w+", dtype, shape, fortran_order=order == "F").flush()


@pytest.mark.slow
@needs_peak
@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_far_larger_than_the_memory_it_takes(tmp_path, order):
    write_zeros(tmp_path / "rows.npy", (2_000_000, 50), np.float32, order)
    n_rows, rose = rise(tmp_path / "rows.npy", -1)
    assert n_rows == 2_000_000
    # Of 400 MB, a few chunks of 4 MiB are held at a time.
    assert rose < 60


@pytest.mark.slow
@needs_peak
@pytest.mark.parametrize("group", [25_000, 500_000])
def test_parquet_with_many_or_with_long_row_groups(tmp_path, group):
    path = tmp_path / "rows.parquet"
    rng = np.random.default_rng(0)
    columns = [rng.standard_normal(100_000) for _ in range(30)]
    table = pa.table(columns, [f"c{j}" for j in range(30)])
    table = pa.concat_tables([table] * 10)
    how = {"compression": "none", "use_dictionary": False}
    parquet.write_table(table, path, row_group_size=group, **how)
    assert scan(path).nbytes > 200 * MIB
    n_rows, rose = rise(path, "c0")
    assert n_rows == 1_000_000
    assert rose < 150


@pytest.mark.slow
@needs_peak
def test_a_packed_file_is_unpacked_as_it_is_read(tmp_path):
    path = tmp_path / "rows.csv.zip"
    names = ";".join(f"c{k}" for k in range(30)).encode() + b"\n"
    line = ";".join(f"{k},5" for k in range(30)).encode() + b"\n"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive, archive.open("rows.csv", "w") as file:
        file.write(names)
        for _ in range(200):
            file.write(line * 8000)
    n_rows, rose = rise(path, "c0")
    assert n_rows == 1_600_000
    # Of 220 MB; a fifth as many rows take 65, and twice as many no more than these.
    assert rose < 130


IDS = """
from pathlib import Path
from elmband.sources.encode import TableEncoder
from elmband.sources.stream import scan

rows = scan({source!r}, target="y", encoder=TableEncoder())
print(sum(len(chunk.X) for chunk in rows.chunks()))
lines = Path("/proc/self/status").read_text().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024)
"""


@pytest.mark.slow
@needs_peak
def test_parquet_with_an_id_for_every_row(tmp_path):
    peaks = []
    for n_rows in (200_000, 1_000_000):
        path = tmp_path / f"{n_rows}.parquet"
        x = np.arange(n_rows) % 1000.0
        ids = pa.array([f"patient-{k:040}" for k in range(n_rows)])
        table = pa.table({"id": ids, "x": x, "y": x})
        parquet.write_table(table, path, row_group_size=n_rows)
        found, peak = map(int, run(IDS.format(source=str(path))).split())
        assert found == n_rows
        peaks.append(peak)
    # The ids that are in one file and not in the other take 42 MB, as levels several times that.
    assert peaks[1] - peaks[0] < 50


@pytest.mark.slow
@needs_peak
def test_opening_and_skipping_read_no_rows(tmp_path):
    write_zeros(tmp_path / "rows.npy", (10_000_000, 100), np.float64)
    rows = scan(tmp_path / "rows.npy", target=0)
    assert rows.n_rows == 10_000_000
    assert rows.nbytes > 8e9
    last = (rows.n_rows - 1) // rows.chunk_size
    n_rows, rose = rise(tmp_path / "rows.npy", 0, start=last)
    assert n_rows == rows.n_rows - last * rows.chunk_size
    assert rose < 60


@pytest.mark.slow
def test_arrays_are_read_without_any_optional_library(tmp_path):
    np.save(tmp_path / "rows.npy", np.ones((5, 2)))
    program = f"""
import sys
sys.modules.update(dict.fromkeys(["pyarrow", "h5py", "zarr", "pandas", "polars"]))
from elmband.sources.stream import scan
print(sum(len(chunk.X) for chunk in scan({str(tmp_path / "rows.npy")!r}, target=0)))
"""
    assert run(program).strip() == "5"
