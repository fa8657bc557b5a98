"""Measure fits on a local cluster: ``python -m benchmarks.cluster --out results/cluster``.

The published intervals are fitted to the same file by the engine of one machine and by workers,
each a process with one thread, at one core and at two. Files of growing length tell how many bytes
travel and how much memory workers take. From these rates follows what many more rows would take.
"""

import argparse
import json
from pathlib import Path

from benchmarks.cluster.arithmetic import arithmetic
from benchmarks.cluster.data import rows_file
from benchmarks.cluster.measure import growth, machine, times
from benchmarks.cluster.plot import draw
from benchmarks.cluster.report import Results, insert, report, table_file

QUICK = {"rows": 200_000, "repeats": 2, "lengths": (200_000, 400_000)}
FULL = {
    "rows": 1_600_000,
    "repeats": 3,
    "lengths": (200_000, 400_000, 800_000, 1_600_000),
}


def main() -> None:
    """Measure, print and write the results."""
    given = _arguments()
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "results.json"
    if not given.report_only:
        size = FULL if given.full else QUICK
        files = {n: rows_file(given.out / "data", n) for n in {size["rows"], *size["lengths"]}}
        if given.data_only:
            return
        results: Results = {"machine": machine(), "rows": size["rows"]}
        results["times"] = times(files[size["rows"]], files[min(files)], size["repeats"])
        results["growth"] = growth({n: files[n] for n in size["lengths"]})
        path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    results = json.loads(path.read_text(encoding="utf-8"))
    results["arithmetic"] = arithmetic(results, given.price)
    text = report(results)
    (given.out / "report.md").write_text(text, encoding="utf-8")
    table_file(results, given.out / "growth.csv")
    draw(results, given.out / "cluster.png")
    if given.docs is not None:
        insert(results, given.docs, given.out / "cluster.png")
    print(text)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for data and results")
    parser.add_argument("--full", action="store_true", help="some five minutes and 4 GB of files")
    parser.add_argument("--data-only", action="store_true", help="write the files of rows, no more")
    parser.add_argument(
        "--report-only", action="store_true", help="from the results that are there"
    )
    parser.add_argument("--price", type=float, default=0.05, help="of a core for an hour")
    parser.add_argument("--docs", type=Path, help="page to write the arithmetic into")
    return parser.parse_args()


if __name__ == "__main__":
    main()
