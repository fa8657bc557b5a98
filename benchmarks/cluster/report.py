"""Tables in Markdown and CSV."""

import csv
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.cluster.arithmetic import TASKS_PER_CORE, least
from benchmarks.cluster.data import FEATURES, NEURONS, PASSES, ROW_BYTES

Results = dict[str, Any]

_TIMES = ("cores", "one machine, s", "workers, s", "overhead", "CPU s", "of workers", "overhead")
# The part of a core that a single thread has on an idle machine.
_QUIET = 0.97
# What a store may give in a second; an assumption.
_STORE = 10e9
# A page of the docs holds what lies between these lines as it was written by the last run.
_BEGIN, _END = "<!-- arithmetic: begin -->", "<!-- arithmetic: end -->"


def report(results: Results) -> str:
    """Return the page."""
    parts = [
        "# On a cluster",
        _machine(results),
        f"## {results['rows']:,} rows, best of {len(results['times']['local_1'])}",
        _table(_TIMES, _times(results)),
        _goals(results),
        "## Bytes and memory, two workers",
        _table(
            ("rows", "s", "tasks", "MB moved", "MB on loopback", "bytes per row", "peak MB"),
            [
                (
                    f"{row['rows']:,}",
                    f"{row['seconds']:.1f}",
                    row["tasks"],
                    f"{row['bytes'] / 1e6:.1f}",
                    f"{row['loopback_bytes'] / 1e6:.1f}",
                    f"{row['bytes'] / row['rows']:.1f}",
                    f"{row['peak_mb']:.0f}",
                )
                for row in results["growth"]
            ],
        ),
        _meaning(results),
        "## The arithmetic",
        arithmetic_text(results),
    ]
    return "\n\n".join(parts) + "\n"


def _machine(results: Results) -> str:
    machine = results["machine"]
    share = least(results, "local_1", "cpu") / least(results, "local_1")
    busy = " The machine was busy with other work: times say little." if share < _QUIET else ""
    return (
        f"{machine['cores']} cores, Python {machine['python']}, elmband {machine['elmband']}, "
        f"NumPy {machine['numpy']}, Dask {machine['dask']}. {FEATURES} inputs in float32, "
        f"{NEURONS} neurons, published intervals: {PASSES} passes over one `.npy` file."
        f"{busy}"
    )


def _goals(results: Results) -> str:
    return (
        f"Efficiency of two workers {efficiency(results):.0%}, which should be 85 % at least; of "
        f"two threads without a cluster it is {efficiency(results, 'local'):.0%}. Overhead at "
        "equal cores should be 15 % at most."
    )


def _meaning(results: Results) -> str:
    return (
        "Moved is all that processes wrote into Dask's sockets, graphs and messages included; a "
        f"row has {ROW_BYTES} bytes. Peak is that of the larger worker; it has "
        f"{results['growth'][0]['idle_mb']:.0f} MB before it does anything."
    )


def efficiency(results: Results, way: str = "workers") -> float:
    """Return how much of two cores is used, one being the measure."""
    one, two = (least(results, f"{way}_{cores}") for cores in (1, 2))
    return float(one / (2 * two))


def _times(results: Results) -> Iterable[Sequence[object]]:
    for cores in (1, 2):
        cells: list[str] = []
        for kind in ("seconds", "cpu"):
            here, spread = (least(results, f"{way}_{cores}", kind) for way in ("local", "workers"))
            cells += [f"{here:.2f}", f"{spread:.2f}", f"{spread / here - 1:+.0%}"]
        yield cores, *cells


def arithmetic_text(results: Results) -> str:
    """Return the rates that were measured, and what follows from them."""
    rates, cases = results["arithmetic"]["rates"], results["arithmetic"]["cases"]
    last = results["growth"][-1]
    text = (
        f"Measured with two workers on {results['rows']:,} rows: a core learns from "
        f"{rates['rows_per_core_second']:,.0f} rows a second, all {PASSES} passes taken together, "
        f"and reads {rates['read_per_core_second'] / 1e6:.0f} MB a second for that. "
        f"{last['tasks']} tasks moved {last['bytes'] / 1e6:.0f} MB for {last['rows']:,} rows; "
        "among many workers it would be twice as much, since hardly any sum would be added where "
        "it was made. "
        f"That is {rates['moved_per_task'] / 1e6:.1f} MB for a task, and there are "
        f"{TASKS_PER_CORE} tasks for each core in a pass, however many rows. The price of "
        f"{rates['price']:g} for an hour of a core is an assumption; put in your own."
    )
    heads = ("rows", "cores", "hours", "files", "read in all", "read a second", "moved")
    table = _table((*heads, "core-hours", f"cost at {rates['price']:g}"), map(_case_cells, cases))
    return f"{text}\n\n{table}\n\n{_limit(cases[-1], rates)}"


def _limit(case: Results, rates: Results) -> str:
    hours = case["read"] / _STORE / 3600
    return (
        f"Reading is what limits first: {case['cores']:,} cores ask their store for "
        f"{_bytes(case['read_per_second'])} a second. One that gives {_bytes(_STORE)} a second "
        f"keeps {_STORE / rates['read_per_core_second']:.0f} cores busy, and "
        f"10^{_power(case)} rows take {hours:.1f} hours however many there are. Disks beside the "
        "workers help then; more cores do not. No more than two workers were measured: that "
        "others are as fast is an assumption too."
    )


def _case_cells(case: Results) -> tuple[str, ...]:
    return (
        f"10^{_power(case)}",
        f"{case['cores']:,}",
        f"{case['hours']:.2g}" if case["hours"] < 10 else f"{case['hours']:,.0f}",
        *(_bytes(case[name]) for name in ("files", "read", "read_per_second", "moved")),
        f"{case['core_hours']:,.0f}",
        f"{case['cost']:,.2f}" if case["cost"] < 10 else f"{case['cost']:,.0f}",
    )


def _power(case: Results) -> int:
    return len(str(case["rows"])) - 1


def _bytes(count: float) -> str:
    for unit in ("MB", "GB", "TB"):
        count /= 1000 if unit != "MB" else 1e6
        if count < 999.5 or unit == "TB":
            return f"{count:.3g} {unit}"
    raise AssertionError


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)


def table_file(results: Results, path: Path) -> None:
    """Write bytes and memory by rows."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(results["growth"][0]))
        writer.writeheader()
        writer.writerows(results["growth"])


def insert(results: Results, page: Path, picture: Path) -> None:
    """Write figures into a page, in the place of what stood there, and the picture beside it."""
    text = page.read_text(encoding="utf-8")
    head, rest = text.split(_BEGIN)
    tail = rest.split(_END)[1]
    shutil.copy(picture, page.with_name(picture.name))
    inside = f"{_measured(results, picture.name)}\n\n{arithmetic_text(results)}"
    page.write_text(f"{head}{_BEGIN}\n\n{inside}\n\n{_END}{tail}", encoding="utf-8")


def _measured(results: Results, picture: str) -> str:
    first, last = results["growth"][0], results["growth"][-1]
    peaks = sorted(row["peak_mb"] for row in results["growth"])
    table = _table(_TIMES, _times(results))
    return (
        f"{_machine(results)} {results['rows']:,} rows, seconds to fit, best of "
        f"{len(results['times']['local_1'])}:\n\n{table}\n\n"
        f"Efficiency of two workers against one: {efficiency(results):.0%}. Bytes that travel fall "
        f"from {first['bytes'] / first['rows']:.0f} a row at {first['rows']:,} rows to "
        f"{last['bytes'] / last['rows']:.0f} at {last['rows']:,}; the largest worker takes "
        f"{peaks[0]:.0f} to {peaks[-1]:.0f} MB.\n\n"
        f"![seconds at equal cores, bytes moved per row and memory of a worker]({picture})"
    )
