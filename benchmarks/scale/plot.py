"""Time and peak memory against rows, both axes logarithmic on the left."""

from pathlib import Path

from benchmarks.scale.cases import CASES, GROWTH_CASES, GROWTH_DTYPE, GROWTH_ROWS
from benchmarks.scale.goals import MEMORY_MB
from benchmarks.scale.summary import Summary
from benchmarks.scale.work import FEATURES
from matplotlib.figure import Figure


def draw(summary: Summary, path: Path) -> bool:
    """Draw the growth, if there is any; the dashed line is time in proportion to rows."""
    series = {case: summary.growth(case) for case in GROWTH_CASES}
    if not any(series.values()):
        return False
    figure = Figure(figsize=(9, 3.8), layout="constrained")
    time, memory = figure.subplots(1, 2)
    for case, sizes in series.items():
        if not sizes:
            continue
        seconds = [summary.seconds(case, GROWTH_DTYPE, rows) for rows in sizes]
        peaks = [summary.peak(case, GROWTH_DTYPE, rows)[0] for rows in sizes]
        time.loglog(sizes, seconds, marker="o", label=CASES[case].label)
        straight = [seconds[-1] * rows / sizes[-1] for rows in sizes]
        time.loglog(sizes, straight, color="0.6", linestyle="--", linewidth=0.8, zorder=0)
        memory.semilogx(sizes, peaks, marker="o", label=CASES[case].label)
    memory.axhline(MEMORY_MB, color="0.6", linewidth=0.8, zorder=0)
    memory.set_ylim(bottom=0)
    time.set_ylabel("seconds to fit")
    memory.set_ylabel("peak resident memory, MB")
    for axes in (time, memory):
        axes.set_xlabel(f"million rows of {FEATURES} inputs, {GROWTH_DTYPE}")
        axes.set_xticks(GROWTH_ROWS, [f"{rows / 1e6:g}" for rows in GROWTH_ROWS])
        axes.set_xticks([], minor=True)
        axes.grid(visible=True, which="major", color="0.92")
    time.yaxis.set_major_formatter("{x:g}")
    time.legend(fontsize=8)
    figure.savefig(path, dpi=130)
    return True
