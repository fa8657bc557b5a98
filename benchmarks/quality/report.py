"""The Markdown report: pooled first, then what it is made of, then each set."""

from collections.abc import Callable, Iterable, Sequence

import numpy as np
from benchmarks.quality.published import INTERVALS, MC_DROPOUT
from benchmarks.quality.summary import OURS, Summary

Cell = Callable[[str, str], float]

LEGEND = """Lower is better for every score and for width; coverage should be near its level.
Scores, pinball and RMSE are in units of the standard deviation of y; times are in seconds, for fit
and prediction together at both levels; `-` means not run or not finished. "Worst fifth" is the
lowest coverage, over all splits, in a fifth of the rows by predicted width."""


def markdown(summary: Summary) -> str:
    """Return the whole report."""
    parts = [
        "# Quality of prediction intervals",
        LEGEND,
        "## Pooled over sets",
        _pooled(summary),
        "## Interval score at 90 %, in sd of y",
        _matrix(summary, lambda s, m: summary.in_sd(s, m, "score90"), "{:.3f}", best=True),
        "## Coverage at 90 %",
        _matrix(summary, lambda s, m: 100 * summary.mean(s, m, "picp90"), "{:.1f}"),
        "## Seconds, median over splits",
        _matrix(summary, lambda s, m: summary.median(s, m, "seconds"), "{:.2f}"),
        *_against_published(summary),
        *_by_noise(summary),
        "## Set by set",
        *(_one_set(summary, name) for name in summary.sets),
        *_failures(summary),
    ]
    return "\n\n".join(parts) + "\n"


def _pooled(summary: Summary) -> str:
    head = [
        "method",
        f"score 90 %, {OURS} / method",
        "at 95 %",
        "best or within 5 %",
        "coverage over 90, ≥ 1,000 rows: mean, worst",
        "smaller sets",
        "coverage over 95, ≥ 1,000 rows: mean, worst",
        "smaller sets ",
        f"seconds, {OURS} / method",
    ]
    rows = []
    for method in summary.methods:
        close, total = summary.close_to_best(method, "score90")
        coverage = [
            _pair(summary.coverage_error(method, level, large=large))
            for level in (90, 95)
            for large in (True, False)
        ]
        ratios = [summary.pooled_ratio(OURS, method, f"score{level}") for level in (90, 95)]
        seconds = [summary.ratio(name, OURS, method, "seconds") for name in summary.sets]
        rows.append(
            [
                f"{method} {_version(summary, method)}",
                *(_text(ratio, "{:.3f}") for ratio in ratios),
                f"{close} of {total}",
                *coverage,
                _text(_geometric(seconds), "{:.2f}"),
            ]
        )
    return _table(head, rows)


def _one_set(summary: Summary, name: str) -> str:
    head = ["method", "splits"]
    for level in (90, 95):
        head += [f"PICP {level}", f"NMPIW {level}", f"score {level}", f"worst fifth {level}"]
    head += ["NLL", "pinball", "RMSE", "RMSE, units of y", "s", "MB"]
    rows = []
    for method in summary.methods:
        if (name, method) not in summary.good:
            continue
        row = [method, str(len(summary.good[name, method]))]
        for level in (90, 95):
            row += [
                _text(100 * summary.mean(name, method, f"picp{level}"), "{:.1f}"),
                _text(100 * summary.mean(name, method, f"nmpiw{level}"), "{:.1f}"),
                _text(summary.in_sd(name, method, f"score{level}"), "{:.3f}"),
                _text(100 * _worst(summary.fifths(name, method, f"fifths{level}")), "{:.0f}"),
            ]
        row += [
            _text(summary.mean(name, method, "nll"), "{:.3f}"),
            _text(summary.in_sd(name, method, "pinball"), "{:.4f}"),
            _text(summary.in_sd(name, method, "rmse"), "{:.3f}"),
            _text(summary.mean(name, method, "rmse"), "{:.4g}"),
            _text(summary.median(name, method, "seconds"), "{:.2f}"),
            _text(max(summary.values(name, method, "peak_mb")), "{:.0f}"),
        ]
        rows.append(row)
    return f"### {name}, {summary.rows(name):,} rows\n\n{_table(head, rows)}"


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
        return ", ".join(_text(value(name, method, key), "{:.3f}") for key in keys)

    rows = [
        [name, "{:.3f}, {:.3f}".format(*published[name]), *(cell(name, m) for m in methods)]
        for name in names
    ]
    return _table(["set", "published", *methods], rows) if methods else ""


def _by_noise(summary: Summary) -> list[str]:
    """Show coverage in each fifth of the true noise, from quiet to noisy."""
    names = [name for name in summary.sets if name.startswith("art-")]
    if not names:
        return []

    def cell(name: str, method: str) -> str:
        fifths = summary.fifths(name, method, "noise_fifths90")
        return " ".join(f"{100 * share:.0f}" for share in fifths) or "-"

    rows = [[name, *(cell(name, method) for method in summary.methods)] for name in names]
    title = "## Coverage at 90 % by fifth of true noise, quiet to noisy"
    return [title, _table(["set", *summary.methods], rows)]


def _failures(summary: Summary) -> list[str]:
    rows = [
        [name, method, kind, ", ".join(map(str, splits)), sentence.replace("|", "/")]
        for (name, method, kind, sentence), splits in summary.failures().items()
    ]
    if not rows:
        return []
    return ["## Not finished", _table(["set", "method", "kind", "splits", "why"], rows)]


def _matrix(summary: Summary, cell: Cell, form: str, *, best: bool = False) -> str:
    """Return a table of sets by methods, the smallest value of each row in bold if `best`."""
    rows = []
    for name in summary.sets:
        values = [cell(name, method) for method in summary.methods]
        texts = [_text(value, form) for value in values]
        if best:
            k = int(np.nanargmin(values))
            texts[k] = f"**{texts[k]}**"
        rows.append([name, *texts])
    return _table(["set", *summary.methods], rows)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _text(value: float, form: str) -> str:
    return "-" if np.isnan(value) else form.format(value)


def _pair(pair: tuple[float, float]) -> str:
    return "-" if np.isnan(pair[0]) else "{:+.1f}, {:+.1f}".format(*pair)


def _worst(shares: list[float]) -> float:
    return min(shares, default=np.nan)


def _geometric(values: Iterable[float]) -> float:
    known = [value for value in values if not np.isnan(value)]
    return float(np.exp(np.mean(np.log(known)))) if known else np.nan


def _version(summary: Summary, method: str) -> str:
    versions = {
        record["version"]
        for (_, name), splits in summary.good.items()
        if name == method
        for record in splits.values()
    }
    return "/".join(sorted(versions))
