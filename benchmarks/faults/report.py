"""One table of what became of all faults."""

from collections import defaultdict
from collections.abc import Iterator

from benchmarks.faults.counts import OUTCOMES, Counts
from benchmarks.quality.store import Record, Store

_SHOWN = 20


def counted(record: Record) -> Counts:
    """Return the counts of a line of the results: of one injection, or of many."""
    return Counts(**record["counts"]) if "counts" in record else Counts.of(record["outcome"])


def totals(store: Store) -> dict[str, Counts]:
    """Return the counts of every kind of fault, in the order of their names."""
    found: dict[str, Counts] = defaultdict(Counts)
    for (kind, _), records in store.read_all().items():
        for record in records.values():
            found[kind] += counted(record)
    return dict(sorted(found.items()))


def markdown(store: Store) -> str:
    """Return the table, and what was not as promised below it."""
    found = totals(store)
    heads = ["fault", "injected", *OUTCOMES]
    lines = [f"| {' | '.join(heads)} |", f"|---|{'---:|' * (len(heads) - 1)}"]
    for name, counts in {**found, "**all**": Counts.total(found.values())}.items():
        numbers = [counts.injected, *(getattr(counts, outcome) for outcome in OUTCOMES)]
        lines.append(f"| {name} | {' | '.join(f'{number:,}' for number in numbers)} |")
    broken = list(_broken(store))
    if broken:
        lines += ["", "Not as promised:", "", *broken[:_SHOWN]]
        if len(broken) > _SHOWN:
            lines.append(f"- and {len(broken) - _SHOWN:,} more")
    return "\n".join(lines) + "\n"


def _broken(store: Store) -> Iterator[str]:
    for (kind, case), records in store.read_all().items():
        for number, record in sorted(records.items()):
            if not counted(record).is_clean:
                what = record.get("outcome", "several")
                yield f"- {kind}, {case}, number {number}: {what}: {record.get('why', '')}"
