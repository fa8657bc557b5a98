"""The Markdown report: what was measured, the goals, and what is missing."""

import math
import os
import platform
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from benchmarks.scale.cases import CASES, DTYPES, GROWTH_CASES, GROWTH_DTYPE, Case
from benchmarks.scale.goals import Goal, at_rows, elsewhere
from benchmarks.scale.summary import Summary
from benchmarks.scale.work import FEATURES, INTERVAL_FIT, POINT_FIT, SIGMOIDS

LEGEND = f"""Rows of {FEATURES} inputs, {FEATURES} linear and {SIGMOIDS} sigmoid neurons, the L2
strength alpha given unless a row says otherwise. Seconds are the best of the repeats after a
warm-up, every row in a process of its own. The ratios compare fits of one dtype; HP-ELM and
naive as in the paper, each at its faster batch size. GFLOP/s count the necessary work alone,
{POINT_FIT / 1e3:.0f} kflop per row for a point fit and {INTERVAL_FIT / 1e3:.0f} for both models
with both covariances (`work.py` says how), and "of ceiling" is their share of the rate of a large
matrix product. Peak is the resident memory of the process at the end of the fit, arrays included;
"beyond" is what the fit added to it. RMSE and coverage at 95 % are those of the training rows: all
solve the same task."""

HEAD = (
    "row",
    "dtype",
    "fit s",
    "/ HP-ELM",
    "/ elmband point",
    "/ naive",
    "GFLOP/s",
    "of ceiling",
    "predict s",
    "interval s",
    "peak MB",
    "beyond MB",
    "RMSE",
    "coverage",
)


def markdown(summary: Summary) -> str:
    """Return the whole report."""
    parts = ["# Time and memory at many rows", LEGEND, _machine(summary)]
    for rows in summary.sizes():
        parts += [f"## {rows:,} rows", _measurements(summary, rows), *_apart(summary, rows)]
        parts += [f"### Goals at {rows:,} rows", _goals(at_rows(summary, rows))]
    parts += [*_growth(summary), "## Other goals", _goals(elsewhere(summary)), *_missing(summary)]
    return "\n\n".join(parts) + "\n"


def _machine(summary: Summary) -> str:
    cores = os.cpu_count() or 1
    rates = (f"{summary.ceiling(dtype):.0f} GFLOP/s {dtype}" for dtype in DTYPES)
    text = f"{_processor()}, {cores} cores, {platform.system()}, Python {platform.python_version()}"
    text += f"; matrix products {', '.join(rates)}; {', '.join(summary.versions())}."
    busy = summary.busy(cores)
    if busy:
        text += f" The machine had other work, measure again: {', '.join(busy)}."
    return text


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _measurements(summary: Summary, rows: int) -> str:
    lines = [
        _line(summary, case, dtype, rows)
        for dtype in DTYPES
        for case in CASES.values()
        if (case.rows is None or case.name.startswith("machine"))
        and summary.record(case.name, dtype, rows) is not None
    ]
    return _table(HEAD, lines)


def _line(summary: Summary, case: Case, dtype: str, rows: int) -> list[str]:
    fit = summary.seconds(case.name, dtype, rows)
    references = (
        summary.hp_elm(dtype, rows),
        summary.seconds("elmband-point", dtype, rows),
        summary.naive(dtype, rows),
    )
    rate = summary.rate(case, dtype, rows)
    is_fit = case.rows is None
    return [
        case.label,
        dtype,
        number(fit),
        *(number(fit / one if is_fit else math.nan) for one in references),
        number(rate),
        percent(rate / summary.ceiling(dtype)),
        *(number(summary.seconds(case.name, dtype, rows, p)) for p in ("predict", "interval")),
        *(_text(mb, "{:.0f}") for mb in summary.peak(case.name, dtype, rows)),
        number(summary.score(case.name, dtype, rows, "rmse")),
        percent(summary.score(case.name, dtype, rows, "coverage")),
    ]


def _apart(summary: Summary, rows: int) -> list[str]:
    """Say which part of the time of Ridge its features are."""
    times = {dtype: summary.seconds("ridge", dtype, rows, "features") for dtype in DTYPES}
    known = [f"{number(time)} s ({dtype})" for dtype, time in times.items() if not math.isnan(time)]
    return [f"Of the fit of Ridge its features are {', '.join(known)}."] if known else []


def _goals(goals: Iterable[Goal]) -> str:
    rows = [
        [
            goal.text,
            number(goal.value),
            f"{'≥' if goal.at_least else '≤'} {goal.target:.3g}",
            goal.verdict,
        ]
        for goal in goals
    ]
    return _table(("goal", "measured", "target", "met"), rows)


def _growth(summary: Summary) -> list[str]:
    """Show time and memory of files of growing size."""
    parts = []
    for case in GROWTH_CASES:
        sizes = summary.growth(case)
        factors = [math.nan, *(summary.doubling(case, *pair) for pair in pairwise(sizes))]
        lines = []
        for rows, factor in zip(sizes, factors, strict=False):
            fit = summary.seconds(case, GROWTH_DTYPE, rows)
            peak, beyond = summary.peak(case, GROWTH_DTYPE, rows)
            memory = (f"{peak:.0f}", f"{beyond:.0f}")
            lines.append([f"{rows:,}", number(fit), f"{rows / fit:,.0f}", number(factor), *memory])
        if lines:
            head = ("rows", "fit s", "rows/s", "time per doubling", "peak MB", "beyond MB")
            parts += [f"### {CASES[case].label}, {GROWTH_DTYPE}", _table(head, lines)]
    return ["## Growth", *parts, "![time and memory against rows](growth.png)"] if parts else []


def _missing(summary: Summary) -> list[str]:
    """List what was left out, skipped or failed."""
    lines = [
        [CASES[name].label, dtype, f"{rows:,}", kind, reason.replace("|", "/")]
        for name, dtype, rows, kind, reason in summary.problems()
    ]
    parts = []
    if lines:
        head = ("row", "dtype", "rows", "kind", "why")
        parts += ["## Not measured", _table(head, lines)]
    if not any(name.startswith("hp-elm") for _, name in summary.records):
        parts.append("HP-ELM was left out: `--hpelm-python` names the Python that has it.")
    return parts


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def number(value: float) -> str:
    """Write a number with three digits."""
    return _text(value, "{:#.3g}" if abs(value) < 100 else "{:.0f}")


def percent(share: float) -> str:
    """Write a share in per cent."""
    return _text(100 * share, "{:.1f} %")


def _text(value: float, form: str) -> str:
    return "-" if math.isnan(value) else form.format(value)
