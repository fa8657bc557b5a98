"""The Markdown tables."""

import os
import platform
from collections.abc import Iterable, Sequence

from benchmarks.answers.parts import BATCHES, BY_NAME, CALLERS, SIZES, WIDTHS_OF
from benchmarks.answers.rivals import METHODS
from benchmarks.answers.runner import STARTS
from benchmarks.quality.store import Key, Record

Found = dict[Key, dict[int, Record]]


def markdown(found: Found) -> str:
    """Return the whole report."""
    sets = list(dict.fromkeys(name for name, _ in found if name != STARTS))
    parts = ["# How fast models answer", _machine(found)]
    for name in sets:
        parts += [f"## {name}", _latency(found, name), _throughput(found, name)]
        parts += [text for text in (_widths(found, name),) if text]
    parts += [text for text in (_starts(found), _failed(found)) if text]
    return "\n\n".join(parts) + "\n"


def _machine(found: Found) -> str:
    records = [one for parts in found.values() for one in parts.values()]
    versions = sorted({one["version"] for one in records if "version" in one})
    load = max((one.get("load", 0.0) for one in records), default=0.0)
    return (
        f"{os.cpu_count()} cores, {platform.system()}, Python {platform.python_version()}; "
        f"{', '.join(versions)}. The load was {load:.1f} at most when a part began. Each call "
        "answers with a mean and an interval at 90 %. Latency: libraries have one thread each; "
        "throughput: as many as they take."
    )


def _of(found: Found, name: str, part: str) -> list[tuple[str, Record]]:
    """Return the records of a part by method, in the order of the methods."""
    number = BY_NAME[part].number
    records = [(method, found.get((name, method), {}).get(number)) for method in METHODS]
    return [(method, one) for method, one in records if one is not None and "error" not in one]


def _latency(found: Found, name: str) -> str:
    pairs = [(size, callers) for size in SIZES for callers in CALLERS]
    heads = [f"{size} rows, {callers} callers" for size, callers in pairs]
    rows = []
    for method, one in _of(found, name, "latency"):
        cells = [f"{_number(one[key]['p50'])} / {_number(one[key]['p99'])}" for key in heads]
        many = one[heads[1]]["per_second"] / one[heads[0]]["per_second"]
        same = "yes" if one["same_from_threads"] else "**no**"
        rows.append([method, *cells, f"{many:.2f}", same, _number(one["bytes"] / 1e6)])
    told = ["p50 / p99 ms", *heads, "4 callers / 1, calls a second", "the same from 4", "MB"]
    return table(told, rows)


def _throughput(found: Found, name: str) -> str:
    heads = [f"{batch} rows" for batch in BATCHES]
    rows = [
        [method, *(_number(one[key]) for key in heads), _number(one["fit_seconds"])]
        for method, one in _of(found, name, "throughput")
    ]
    return table(["seconds", *(f"{batch:,} rows" for batch in BATCHES), "fit"], rows)


def _widths(found: Found, name: str) -> str:
    one = found.get((name, WIDTHS_OF), {}).get(BY_NAME["widths"].number)
    if one is None or "error" in one:
        return ""
    rows = [
        [where, *(f"{100 * one[where][key]:.3f} %" for key in ("median", "p99", "narrower"))]
        for where in ("on", "off")
    ]
    covered = f"{100 * one['on']['coverage']:.2f} % with the fast variance and "
    covered += f"{100 * one['on']['coverage_exact']:.2f} % with the exact one"
    heads = ["width, fast against exact", "median", "99 % of rows", "most narrower"]
    return f"{table(heads, rows)}\n\nIntervals at 90 % cover {covered}."


def _starts(found: Found) -> str:
    one = found.get((STARTS, "all"), {}).get(0)
    if one is None:
        return ""
    rows = [[name, f"{s:.3f}"] for name, s in one.items() if name not in {"split", "load"}]
    return f"## Starts\n\n{table(['process', 'seconds'], rows)}"


def _failed(found: Found) -> str:
    lines = [
        f"- {name}, {method}: {one['error']}"
        for (name, method), parts in found.items()
        for one in parts.values()
        if "error" in one
    ]
    return "\n".join(["## Failed", "", *lines]) if lines else ""


def _number(value: float) -> str:
    """Return three digits that count."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
