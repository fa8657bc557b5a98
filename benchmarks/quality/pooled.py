"""The tables over all sets: elmband against each method, and what coverage promises are worth."""

import numpy as np
from benchmarks.quality.summary import LEVELS, OURS, Summary
from benchmarks.quality.tables import table, text


def against(summary: Summary) -> str:
    """Return the table of ratios, a row for each method; below 1 is good for elmband."""
    head = [
        f"{OURS} / method",
        *(f"score {level} %" for level in LEVELS),
        "RMSE",
        "seconds",
        "seconds on the worst set",
        "method is best or within 5 %",
    ]
    return table(head, [_ratios(summary, method) for method in summary.methods])


def _ratios(summary: Summary, method: str) -> list[str]:
    keys = [*(f"score{level}" for level in LEVELS), "rmse"]
    mean, worst, where = summary.time_ratio(OURS, method)
    close, total = summary.close_to_best(method, "score90")
    return [
        f"{method} {_version(summary, method)}",
        *(text(summary.pooled_ratio(OURS, method, key), "{:.3f}") for key in keys),
        text(mean, "{:.2f}"),
        f"{text(worst, '{:.2f}')} {where}".strip(),
        f"{close} of {total}" if total else "-",
    ]


def coverage(summary: Summary) -> str:
    """Return the table of coverage, a row for each method with intervals."""
    head = ["method"]
    for level in LEVELS:
        head += [
            f"mean at {level} %",
            f"{level} %: sets of ≥ 1,000 rows off by > 3 points",
            f"{level} %: their mean and worst deviation",
            f"{level} %: that of smaller sets",
        ]
    return table(head, [_coverage(summary, method) for method in summary.with_intervals])


def _coverage(summary: Summary, method: str) -> list[str]:
    row = [method]
    for level in LEVELS:
        off, total = summary.sets_off(method, level)
        row += [
            text(summary.coverage(method, level), "{:.1f}"),
            f"{off} of {total}" if total else "-",
            *(_pair(summary.coverage_error(method, level, large=large)) for large in (True, False)),
        ]
    return row


def _pair(pair: tuple[float, float]) -> str:
    return "-" if np.isnan(pair[0]) else "{:+.1f}, {:+.1f}".format(*pair)


def _version(summary: Summary, method: str) -> str:
    versions = {
        record["version"]
        for (_, name), splits in summary.good.items()
        if name == method
        for record in splits.values()
    }
    return "/".join(sorted(versions))
