"""What many more rows would take, from the rates that were measured."""

from typing import Any

from benchmarks.cluster.data import PASSES, ROW_BYTES

Results = dict[str, Any]

# Rows, and numbers of cores to learn from them with.
CASES = ((10**9, 16), (10**9, 128), (10**11, 128), (10**11, 1024))
# As the graph of a pass has it.
TASKS_PER_CORE = 16


def least(results: Results, way: str, kind: str = "seconds") -> float:
    """Return the best of the times that were measured."""
    return float(min(time[kind] for time in results["times"][way]))


def arithmetic(results: Results, price: float) -> Results:
    """Return the rates, and cores, hours, bytes and cost of the cases.

    Time is in proportion to rows and to the inverse of cores, at the rate of two workers. Bytes
    that travel are in proportion to tasks, of which there are so many per core however many rows
    there are. Of two workers one adds up what it has itself, so that half of all sums stay where
    they are; of many workers hardly any do, and twice as many bytes are counted.
    """
    rate = results["rows"] / (2 * least(results, "workers_2"))
    last = results["growth"][-1]
    rates = {
        "rows_per_core_second": rate,
        "read_per_core_second": rate * ROW_BYTES * PASSES,
        "moved_per_task": 2 * last["bytes"] / last["tasks"],
        "price": price,
    }
    return {"rates": rates, "cases": [_case(*case, rates) for case in CASES]}


def _case(rows: int, cores: int, rates: Results) -> Results:
    hours = rows / rates["rows_per_core_second"] / cores / 3600
    read = rows * ROW_BYTES * PASSES
    return {
        "rows": rows,
        "cores": cores,
        "hours": hours,
        "files": rows * ROW_BYTES,
        "read": read,
        "read_per_second": read / hours / 3600,
        "moved": rates["moved_per_task"] * TASKS_PER_CORE * cores * PASSES,
        "core_hours": cores * hours,
        "cost": cores * hours * rates["price"],
    }
