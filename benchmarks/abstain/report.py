"""The Markdown report: what the answers of every set are worth, then what the studies found."""

import os
import platform
from collections.abc import Callable

from benchmarks.abstain.data import SETS
from benchmarks.abstain.findings import ensembles, paired, promises, times
from benchmarks.abstain.rivals import METHODS
from benchmarks.abstain.scores import COVERAGES, RATES
from benchmarks.abstain.summary import Summary
from benchmarks.abstain.tables import number, percent, table

LEGEND = """Rows are answered from the most certain on. Errors, and rates of true and false
positives, are shares of the answered rows. A part in which no row is called positive has no false
positives, whatever it is worth, so the share of its rows called positive stands beside them. "No
false positive" is the largest share of rows that can be answered before the first one, "found" the
share of all positive rows that are answered, and rightly, while false positives are at most that
share of all negative rows. All numbers are means over splits, or over seeds, and so are seconds:
for the fit, and for answers to all test rows, by the wall clock and summed over cores."""

Cell = Callable[[Summary, str, str, float], str]


def markdown(summary: Summary) -> str:
    """Return the whole report."""
    parts = ["# Classifiers that may abstain", LEGEND, _machine(summary)]
    for name in summary.sets:
        parts += _one_set(summary, name)
    for found in (paired, ensembles, promises, times):
        parts += found(summary)
    return "\n\n".join([*parts, *_failures(summary)]) + "\n"


def _machine(summary: Summary) -> str:
    cores = os.cpu_count() or 1
    text = f"{cores} cores, {platform.system()}, Python {platform.python_version()}; "
    text += f"{', '.join(summary.versions())}."
    busy = summary.busy(cores)
    if busy:
        text += f" The machine had other work, do not trust the times of {', '.join(busy)}."
    return text


def _one_set(summary: Summary, name: str) -> list[str]:
    train, test, splits = summary.rows(name)
    kind = "seed" if SETS[name].seeds else "split"
    sizes = f"{train:,} rows to train, {test:,} to judge, {splits} {kind}{'s' * (splits > 1)}."
    parts = [f"## {name}: {SETS[name].label}", sizes, _overall(summary, name)]
    parts += ["### Error among the answered, %", _by_coverage(summary, name, _error)]
    if SETS[name].positive is not None:
        title = "### False positives (and rows called positive among the answered, %)"
        parts += [title, _by_coverage(summary, name, _false)]
        title = "### True / false positive rate among the answered, %"
        parts += [title, _by_coverage(summary, name, _rates)]
    return parts


def _overall(summary: Summary, name: str) -> str:
    head, keys = ["method", "seeds" if SETS[name].seeds else "splits", "error, %", "AURC, %"], []
    if SETS[name].positive is not None:
        head += ["no false positive, %", *(f"found at {100 * rate:g} %, %" for rate in RATES)]
        keys = ["no_fp", *(f"found{rate:g}" for rate in RATES)]
    lines = []
    for method in summary.methods(name):
        scores = [summary.score(name, method, key) for key in ("aurc", *keys)]
        seconds = [
            summary.seconds(name, method, phase, clock)
            for phase in ("fit", "answer")
            for clock in ("seconds", "cpu_seconds")
        ]
        shares = [summary.part(name, method, 1.0, "risk"), *scores]
        cells = [str(len(summary.good(name, method))), *map(percent, shares), *map(number, seconds)]
        lines.append([METHODS[method].label, *cells])
    return table([*head, "fit s", "CPU s", "answer s", "CPU s "], lines)


def _by_coverage(summary: Summary, name: str, cell: Cell) -> str:
    lines = [
        [METHODS[method].label, *(cell(summary, name, method, c) for c in COVERAGES)]
        for method in summary.methods(name)
    ]
    return table(["method", *(f"{100 * c:g} %" for c in COVERAGES)], lines)


def _error(summary: Summary, name: str, method: str, coverage: float) -> str:
    return percent(summary.part(name, method, coverage, "risk"))


def _false(summary: Summary, name: str, method: str, coverage: float) -> str:
    false, called = (
        summary.part(name, method, coverage, key) for key in ("false_positives", "called")
    )
    return f"{number(false)} ({percent(called)})"


def _rates(summary: Summary, name: str, method: str, coverage: float) -> str:
    return " / ".join(percent(summary.part(name, method, coverage, key)) for key in ("tpr", "fpr"))


def _failures(summary: Summary) -> list[str]:
    lines = [
        [name, method, str(k), reason.replace("|", "/")]
        for name, method, k, reason in summary.failures()
    ]
    return ["## Failed", table(["set", "method", "split", "why"], lines)] if lines else []
