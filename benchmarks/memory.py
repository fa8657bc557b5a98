"""Peak memory of commands at few and at many rows: it should not grow with them.

Tables have 20 columns of numbers and a target; some have an id for every row besides. Each is
written in pieces, read by its commands, every one in a process of its own, and deleted. Results go
to FOLDER, a line for each, and a new run does only what is missing there.

    python -m benchmarks.memory --folder results/memory               # 3 GB of disk, hours
    python -m benchmarks.memory --folder results/memory --most 1000000
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import chain, groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.quality.store import Store

COLUMNS, PIECE, TRAINING = 20, 250_000, 250_000
MODEL, LEVEL = "model.safetensors", "0.9"

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

FIT = ("fit", "{data}", "--target", "y", "--exclude", "id", "-o", "fitted.safetensors")
PREDICT = ("predict", MODEL, "{data}", "-o", "out.parquet", "--level", LEVEL)
TRIAGE = ("triage", MODEL, "{data}", "-o", "one.parquet", "--review", "other.parquet")

COMMANDS = {
    "predict": PREDICT,
    "predict, all columns kept": (*PREDICT, "--keep-all"),
    "predict, ids kept": (*PREDICT, "--keep", "id"),
    "triage": (*TRIAGE, "--max-width", "2"),
    "report": ("report", MODEL, "{data}", "--target", "y", "-o", "report.html"),
    "fit, 100 neurons": (*FIT, "--neurons", "100"),
    "fit": FIT,
}


class Rows(NamedTuple):
    """A table to be read."""

    n_rows: int
    ending: str = "parquet"
    ids: bool = False

    @property
    def name(self) -> str:
        """What the table is called in results."""
        return f"{self.ending}{' with ids' * self.ids}"


M = 1_000_000
CASES = [
    *((Rows(n), command) for n in (M, 5 * M) for command in ("predict", "triage", "report")),
    *((Rows(n), command) for n in (M, 5 * M) for command in ("fit, 100 neurons", "fit")),
    (Rows(15 * M), "predict"),
    *((Rows(n, "csv"), "predict, all columns kept") for n in (M, 5 * M)),
    *((Rows(n, ids=True), "predict, ids kept") for n in (M, 8 * M)),
]


def main() -> None:
    """Measure what is missing, and print the table."""
    if not Path("/proc/self/status").exists():
        sys.exit("Error: only Linux tells the peak of a process by itself.")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("results/memory"))
    parser.add_argument("--most", type=int, default=15 * M, help="Most rows of a table.")
    parser.add_argument("--only", help="Only commands that begin with this.")
    given = parser.parse_args()
    store = Store(given.folder.resolve())
    wanted = [
        (rows, command)
        for rows, command in sorted(CASES)
        if rows.n_rows <= given.most
        and command.startswith(given.only or "")
        and rows.n_rows not in store.read(rows.name, command)
    ]
    for rows, some in groupby(wanted, key=lambda case: case[0]):
        measure(store, rows, [command for _, command in some])
    print(table(store))


def measure(store: Store, rows: Rows, commands: list[str]) -> None:
    """Write a table, run commands on it, and delete it."""
    if not (store.out / MODEL).exists():
        train = write(store.out / "train.parquet", Rows(TRAINING))
        run(store.out, [*FIT[:-1], MODEL, "--published", "--neurons", "100"], train)
    data = write(store.out / f"rows.{rows.ending}", rows)
    try:
        for command in commands:
            begun = time.perf_counter()
            peak = run(store.out, COMMANDS[command], data)
            seconds = round(time.perf_counter() - begun, 1)
            record = {"split": rows.n_rows, "peak_mb": round(peak), "seconds": seconds}
            store.append(rows.name, command, record)
            print(rows.name, command, record, flush=True)
    finally:
        for name in (data.name, "out.parquet", "one.parquet", "other.parquet"):
            (store.out / name).unlink(missing_ok=True)


def write(path: Path, rows: Rows) -> Path:
    """Write a table in pieces."""
    import pyarrow as pa  # noqa: PLC0415 - the table of results does not need it
    from pyarrow import csv, parquet  # noqa: PLC0415

    made = pieces(rows, pa)
    first = next(made)
    how = csv.CSVWriter if rows.ending == "csv" else parquet.ParquetWriter
    with how(path, first.schema) as file:
        for piece in chain([first], made):
            file.write_table(piece)
    return path


def pieces(rows: Rows, pa: Any) -> Iterator[Any]:
    """Yield the rows of a table: a smooth target, with noise that grows with one of the inputs."""
    rng = np.random.default_rng(0)
    for start in range(0, rows.n_rows, PIECE):
        X = rng.uniform(-1, 1, (PIECE, COLUMNS)).round(4)
        noise = rng.normal(size=PIECE) * (0.1 + 0.4 * np.abs(X[:, 2]))
        columns = {f"x{j}": X[:, j] for j in range(COLUMNS)}
        columns["y"] = (np.sin(3 * X[:, 0]) + X[:, 1] + noise).round(4)
        ids = np.arange(start, start + PIECE)
        columns["id"] = [f"{k * 2654435761 % 2**32:08x}-{k:09d}" for k in ids] if rows.ids else ids
        yield pa.table(columns)


def run(folder: Path, arguments: tuple[str, ...] | list[str], data: Path) -> float:
    """Run a command, and return the most memory that it had, in MB."""
    result = subprocess.run(
        [sys.executable, "-c", PEAK, *(part.format(data=data.name) for part in arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RuntimeError(result.stderr)
    return int(result.stderr.split()[-1]) * 1024 / 1e6


def table(store: Store) -> str:
    """Return the results as a table in Markdown."""
    lines = ["| command | table | peak memory, MB, by rows |", "|---|---|---|"]
    for (name, command), records in sorted(store.read_all().items()):
        found = sorted((rows, record["peak_mb"]) for rows, record in records.items())
        peaks = ", ".join(f"{peak} at {rows:,}" for rows, peak in found)
        lines.append(f"| {command} | {name} | {peaks} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
