"""The Markdown report: pooled first, then what it is made of, then each set."""

from collections.abc import Callable

import numpy as np
from benchmarks.quality.pooled import against, coverage
from benchmarks.quality.published import INTERVALS, MC_DROPOUT
from benchmarks.quality.summary import LEVELS, Summary
from benchmarks.quality.tables import table, text

Cell = Callable[[str, str], float]

LEGEND = """Lower is better for every score and for width; coverage should be near its level.
Scores, pinball and RMSE are in units of the standard deviation of y; times are in seconds, for fit
and prediction together at both levels; `-` means not run or not finished. "Worst fifth" is the
lowest coverage, over all splits, in a fifth of the rows by predicted width. Methods that predict
points only are not in the tables of intervals."""
RATIOS = """Geometric means over sets of elmband's figure divided by the method's, on splits that
both finished: below 1 elmband is better. A set counts for no more than a factor of 2, except in
seconds."""


def markdown(summary: Summary) -> str:
    """Return the whole report."""
    parts = [
        "# Quality of prediction intervals",
        LEGEND,
        "## Over all sets: ratios",
        RATIOS,
        against(summary),
        *_coverage_over_sets(summary),
        *_interval_matrices(summary),
        "## RMSE, in sd of y",
        _matrix(
            summary, summary.methods, lambda s, m: summary.in_sd(s, m, "rmse"), "{:.3f}", best=True
        ),
        "## Seconds, median over splits",
        _matrix(summary, summary.methods, lambda s, m: summary.median(s, m, "seconds"), "{:.2f}"),
        *_against_published(summary),
        *_by_noise(summary),
        "## Set by set",
        *(_one_set(summary, name) for name in summary.sets),
        *_failures(summary),
    ]
    return "\n\n".join(parts) + "\n"


def _coverage_over_sets(summary: Summary) -> list[str]:
    """Show coverage over all sets, if any method has intervals."""
    return ["## Over all sets: coverage", coverage(summary)] if summary.with_intervals else []


def _interval_matrices(summary: Summary) -> list[str]:
    """Show score and coverage of each set, if any method has intervals."""
    methods = summary.with_intervals
    if not methods:
        return []
    return [
        "## Interval score at 90 %, in sd of y",
        _matrix(summary, methods, lambda s, m: summary.in_sd(s, m, "score90"), "{:.3f}", best=True),
        "## Coverage at 90 %",
        _matrix(summary, methods, lambda s, m: 100 * summary.mean(s, m, "picp90"), "{:.1f}"),
    ]


def _one_set(summary: Summary, name: str) -> str:
    head = ["method", "splits"]
    for level in LEVELS:
        head += [f"PICP {level}", f"NMPIW {level}", f"score {level}", f"worst fifth {level}"]
    head += ["NLL", "pinball", "RMSE", "RMSE, units of y", "s", "MB"]
    rows = []
    for method in summary.methods:
        if (name, method) not in summary.good:
            continue
        row = [method, str(len(summary.good[name, method]))]
        for level in LEVELS:
            row += [
                text(100 * summary.mean(name, method, f"picp{level}"), "{:.1f}"),
                text(100 * summary.mean(name, method, f"nmpiw{level}"), "{:.1f}"),
                text(summary.in_sd(name, method, f"score{level}"), "{:.3f}"),
                text(100 * _worst(summary.fifths(name, method, f"fifths{level}")), "{:.0f}"),
            ]
        row += [
            text(summary.mean(name, method, "nll"), "{:.3f}"),
            text(summary.in_sd(name, method, "pinball"), "{:.4f}"),
            text(summary.in_sd(name, method, "rmse"), "{:.3f}"),
            text(summary.mean(name, method, "rmse"), "{:.4g}"),
            text(summary.median(name, method, "seconds"), "{:.2f}"),
            text(max(summary.values(name, method, "peak_mb")), "{:.0f}"),
        ]
        rows.append(row)
    return f"### {name}, {summary.rows(name):,} rows\n\n{table(head, rows)}"


def _against_published(summary: Summary) -> list[str]:
    """Compare with published figures, for the methods that have what was published."""
    dropout = _beside(summary, MC_DROPOUT, summary.mean, "rmse", "nll")
    paper = _beside(
        summary, INTERVALS, lambda s, m, key: 100 * summary.median(s, m, key), "picp90", "nmpiw90"
    )
    titles = (
        "## Standard splits: mean RMSE and NLL; published: MC-dropout",
        "## Tasks of the paper: median PICP and NMPIW at 90 %, in per cent",
    )
    found = zip(titles, (dropout, paper), strict=True)
    return [part for title, table in found if table for part in (title, table)]


def _beside(
    summary: Summary,
    published: dict[str, tuple[float, float]],
    value: Callable[[str, str, str], float],
    *keys: str,
) -> str:
    """Return a table of pairs of metrics beside the published pair, or nothing without results."""
    names = [name for name in published if name in summary.sets]
    methods = [
        method
        for method in summary.methods
        if any(summary.values(name, method, key) for name in names for key in keys[1:])
    ]

    def cell(name: str, method: str) -> str:
        return ", ".join(text(value(name, method, key), "{:.3f}") for key in keys)

    rows = [
        [name, "{:.3f}, {:.3f}".format(*published[name]), *(cell(name, m) for m in methods)]
        for name in names
    ]
    return table(["set", "published", *methods], rows) if methods else ""


def _by_noise(summary: Summary) -> list[str]:
    """Show coverage in each fifth of the true noise, from quiet to noisy."""
    names = [name for name in summary.sets if name.startswith("art-")]
    methods = summary.with_intervals
    if not names or not methods:
        return []

    def cell(name: str, method: str) -> str:
        fifths = summary.fifths(name, method, "noise_fifths90")
        return " ".join(f"{100 * share:.0f}" for share in fifths) or "-"

    rows = [[name, *(cell(name, method) for method in methods)] for name in names]
    title = "## Coverage at 90 % by fifth of true noise, quiet to noisy"
    return [title, table(["set", *methods], rows)]


def _failures(summary: Summary) -> list[str]:
    rows = [
        [name, method, kind, ", ".join(map(str, splits)), sentence.replace("|", "/")]
        for (name, method, kind, sentence), splits in summary.failures().items()
    ]
    if not rows:
        return []
    return ["## Not finished", table(["set", "method", "kind", "splits", "why"], rows)]


def _matrix(
    summary: Summary, methods: list[str], cell: Cell, form: str, *, best: bool = False
) -> str:
    """Return a table of sets by methods, the smallest value of each row in bold if `best`."""
    rows = []
    for name in summary.sets:
        values = [cell(name, method) for method in methods]
        texts = [text(value, form) for value in values]
        if best and not np.isnan(values).all():
            k = int(np.nanargmin(values))
            texts[k] = f"**{texts[k]}**"
        rows.append([name, *texts])
    return table(["set", *methods], rows)


def _worst(shares: list[float]) -> float:
    return min(shares, default=np.nan)
