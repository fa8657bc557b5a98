"""Commands take as much memory for many rows as for few."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from running import ENVIRONMENT

FORMATS = ["csv", "parquet", "arrow"]
FEW, MANY, COLUMNS = 100_000, 400_000, 30
# MB. What is free again is kept for a while: memory rises by up to 50 until 400,000 rows, and by 6
# from there to a million. Read ahead, as many rows as these took 160 more.
FLAT = 80

# What getrusage tells of a new process includes the peak of the process that started it.
PEAK = """
import sys
from pathlib import Path
from elmband.cli import main

try:
    main()
finally:
    lines = Path("/proc/self/status").read_text().splitlines()
    print(next(line.split()[1] for line in lines if line.startswith("VmHWM")), file=sys.stderr)
"""

COMMANDS = {
    "predict": ["-o", "out.{}", "--keep-all"],
    "triage": ["--max-width", "1", "-o", "out.{}", "--review", "review.{}"],
    "evaluate": ["--target", "y"],
    "report": ["--target", "y"],
}

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="only Linux tells the peak by itself"
    ),
]


def tables(n_rows):
    rng = np.random.default_rng(0)
    for _ in range(n_rows // 50_000):
        X = rng.integers(0, 1000, (50_000, COLUMNS)).astype(float)
        names = [f"x{j}" for j in range(COLUMNS)]
        yield pa.table([*X.T, X[:, 0] + X[:, 1]], [*names, "y"])


def write(path, n_rows):
    how = {".csv": csv.CSVWriter, ".parquet": parquet.ParquetWriter, ".arrow": pa.ipc.new_file}
    rows = tables(n_rows)
    first = next(rows)
    with how[path.suffix](path, first.schema) as file:
        for table in [first, *rows]:
            getattr(file, "write_table", file.write)(table)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rows")
    for ending in FORMATS:
        for n_rows in (FEW, MANY):
            write(folder / f"{n_rows}.{ending}", n_rows)
    write(folder / "train.parquet", 50_000)
    peak(folder, *fit("train.parquet"))
    return folder


def fit(data):
    how = ["--published", "--neurons", "20"]
    return ["fit", data, "--target", "y", *how, "-o", "model.safetensors"]


def peak(folder, *arguments):
    """Return the most memory that a command had, in MB."""
    result = subprocess.run(
        [sys.executable, "-c", PEAK, *arguments],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    return int(result.stderr.split()[-1]) / 1024


@pytest.mark.parametrize(
    ("command", "ending"),
    [
        # All commands read tables alike: one of them does so in every format.
        pytest.param(
            command,
            ending,
            marks=() if command == "predict" or ending == "parquet" else pytest.mark.long,
        )
        for command in COMMANDS
        for ending in FORMATS
    ],
)
def test_memory_of_answers_does_not_grow(folder, command, ending):
    more = [part.format(ending) for part in COMMANDS[command]]
    few, many = (
        peak(folder, command, "model.safetensors", f"{n}.{ending}", *more) for n in (FEW, MANY)
    )
    assert many - few < FLAT


@pytest.mark.parametrize("ending", FORMATS)
def test_memory_of_a_fit_does_not_grow(folder, ending):
    few, many = (peak(folder, *fit(f"{n}.{ending}")) for n in (FEW, MANY))
    assert many - few < FLAT
