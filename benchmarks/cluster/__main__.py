"""Measure fits on a local cluster: ``python -m benchmarks.cluster --out results/cluster``.

The published intervals are fitted to the same file by the engine of one machine, by one worker and
by two, each worker a process with one thread. Then files of growing length tell how many bytes
travel between workers.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from distributed import Client, LocalCluster

from elmband import ELMIntervalRegressor, scan

FEATURES = 100
NEURONS = 300


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for data and results")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    lengths = (given.rows // 16, given.rows // 4, given.rows)
    files = [rows_file(given.out, n) for n in lengths]
    results: dict[str, Any] = {"rows": given.rows, "cores": os.cpu_count()}
    results["local"] = best(files[-1], None, given.repeats)
    for count in (1, 2):
        with workers(count) as client:
            results[f"workers_{count}"] = best(files[-1], client, given.repeats)
    results["efficiency"] = results["workers_1"] / (2 * results["workers_2"])
    results["overhead"] = results["workers_2"] / results["local"] - 1
    with workers(2) as client:
        results["bytes_per_row"] = {
            n: moved(f, client) / n for n, f in zip(lengths, files, strict=True)
        }
    text = json.dumps(results, indent=2)
    (given.out / "results.json").write_text(text + "\n", encoding="utf-8")
    sys.stdout.write(text + "\n")


def rows_file(folder: Path, n: int) -> Path:
    """Write n rows of float32, the last column being the target."""
    path = folder / f"rows-{n}.npy"
    if path.exists():
        return path
    table = np.lib.format.open_memmap(path, "w+", np.float32, (n, FEATURES + 1))
    rng = np.random.default_rng(0)
    for first in range(0, n, 100_000):
        X = rng.normal(size=(min(100_000, n - first), FEATURES)).astype(np.float32)
        noise = 0.1 * (1 + abs(X[:, 2])) * rng.normal(size=len(X))
        table[first : first + len(X), :-1] = X
        table[first : first + len(X), -1] = np.sin(X[:, 0]) + X[:, 1] / 3 + noise
    table.flush()
    return path


@contextmanager
def workers(count: int) -> Iterator[Client]:
    """Start processes with one thread each."""
    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address="127.0.0.1:0", host="127.0.0.1"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


def fit(path: Path, client: Client | None) -> float:
    """Return the seconds of a fit."""
    model = ELMIntervalRegressor(
        NEURONS, noise="squared", calibration="gaussian", alpha=0.1, random_state=0, verbose=False
    )
    begun = perf_counter()
    model.fit(scan(path, target=-1), client=client)
    return perf_counter() - begun


def best(path: Path, client: Client | None, repeats: int) -> float:
    """Return the least of several times, after a first one that loads libraries."""
    return min([fit(path, client) for _ in range(repeats + 1)][1:])


def moved(path: Path, client: Client) -> int:
    """Return the bytes that workers send each other during a fit."""
    before = sum(client.run(sent).values())
    fit(path, client)
    return int(sum(client.run(sent).values()) - before)


def sent(dask_worker: Any) -> int:
    """Return the bytes that a worker has sent to others so far."""
    return int(dask_worker.transfer_outgoing_bytes_total)


if __name__ == "__main__":
    main()
