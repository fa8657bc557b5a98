"""Studies that need more than the scores of one method.

``paired.py`` compares rules of one model, ``ensembles.py`` an ensemble with its members,
``promises.py`` counts broken promises, ``times.py`` compares the seconds of a classifier that
abstains with those of the interval model in it. Each has a function ``study`` that returns a
record.
"""

from benchmarks.abstain.data import BenchmarkSet
from benchmarks.quality.store import Store

STUDIES = ("paired", "ensembles", "promises", "times")


def studies_of(one: BenchmarkSet) -> list[str]:
    """Return the names of the studies that are made on a set."""
    if not one.grouped:
        return []
    if one.name == "skin-photos":
        return ["paired", "promises"]
    if one.name == "skin-200k":
        return ["paired", "ensembles", "times"]
    return ["paired", "times"]


def newest(store: Store, set_name: str, methods: tuple[str, ...]) -> float:
    """Return when the last of the answers came that a study depends on, 0 without any."""
    records = (store.read(set_name, method).values() for method in methods)
    return max((record.get("when", 0.0) for some in records for record in some), default=0.0)
