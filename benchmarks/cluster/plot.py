"""Seconds at equal cores, and bytes and memory against rows."""

from pathlib import Path
from typing import Any

from benchmarks.cluster.arithmetic import least
from matplotlib.figure import Figure


def draw(results: dict[str, Any], path: Path) -> None:
    """Draw three pictures beside each other."""
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    seconds, moved, memory = figure.subplots(1, 3)
    for shift, way, label in ((-0.2, "local", "one machine"), (0.2, "workers", "Dask workers")):
        best = [least(results, f"{way}_{cores}") for cores in (1, 2)]
        bars = seconds.bar([1 + shift, 2 + shift], best, width=0.36, label=label)
        seconds.bar_label(bars, fmt="%.1f", fontsize=8)
    seconds.set_xticks([1, 2], ["1 core", "2 cores"])
    seconds.set_ylabel(f"seconds to fit {results['rows'] / 1e6:g} million rows")
    seconds.legend(fontsize=8)
    rows = [row["rows"] for row in results["growth"]]
    moved.loglog(rows, [row["bytes"] / row["rows"] for row in results["growth"]], marker="o")
    moved.set_ylabel("bytes moved per row")
    memory.semilogx(rows, [row["peak_mb"] for row in results["growth"]], marker="o")
    memory.set_ylabel("peak memory of a worker, MB")
    memory.set_ylim(0, 1.2 * max(row["peak_mb"] for row in results["growth"]))
    for axes in (moved, memory):
        axes.set_xlabel("million rows")
        axes.set_xticks(rows, [f"{n / 1e6:g}" for n in rows])
        axes.set_xticks([], minor=True)
        axes.grid(visible=True, which="major", color="0.92")
    moved.yaxis.set_major_formatter("{x:g}")
    moved.yaxis.set_minor_formatter("{x:g}")
    figure.savefig(path, dpi=130)
