"""Means over splits. NaN stands for what was not measured."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from benchmarks.abstain.data import SETS
from benchmarks.abstain.rivals import METHODS
from benchmarks.abstain.scores import COVERAGES
from benchmarks.quality.store import Key, Record


@dataclass(frozen=True)
class Summary:
    """All records, by set and method (or study) and then by split."""

    records: dict[Key, dict[int, Record]]

    def good(self, set_name: str, name: str) -> dict[int, Record]:
        """Return the finished splits."""
        splits = self.records.get((set_name, name), {})
        return {k: splits[k] for k in sorted(splits) if "error" not in splits[k]}

    @property
    def sets(self) -> list[str]:
        """Sets with results, in the order of the benchmark."""
        return [name for name in SETS if self.methods(name)]

    def methods(self, set_name: str) -> list[str]:
        """Methods with results on a set, in the order of the benchmark."""
        return [name for name in METHODS if self.good(set_name, name)]

    def study(self, set_name: str, name: str) -> Record | None:
        """Return the record of a study, that of the largest number; None where there is none."""
        found = self.good(set_name, name)
        return found[max(found)] if found else None

    def seconds(self, set_name: str, method: str, phase: str, clock: str = "seconds") -> float:
        """Return the mean seconds of a phase by a clock, "seconds" or "cpu_seconds"."""
        return _mean(record[clock][phase] for record in self.good(set_name, method).values())

    def score(self, set_name: str, method: str, key: str) -> float:
        """Return the mean of a score."""
        records = self.good(set_name, method).values()
        return _mean(record["scores"].get(key) for record in records)

    def part(self, set_name: str, method: str, coverage: float, key: str) -> float:
        """Return the mean of a score of the part with this coverage."""
        at = COVERAGES.index(coverage)
        records = self.good(set_name, method).values()
        return _mean(record["scores"]["parts"][at].get(key) for record in records)

    def rows(self, set_name: str) -> tuple[int, int, int]:
        """Return mean numbers of training and of test rows, and the number of splits."""
        records = [r for m in self.methods(set_name) for r in self.good(set_name, m).values()]
        splits = max(len(self.good(set_name, m)) for m in self.methods(set_name))
        train = np.mean([record["n_train"] for record in records])
        test = np.mean([record["scores"]["n"] for record in records])
        return round(float(train)), round(float(test)), splits

    def versions(self) -> list[str]:
        """Return the versions of everything measured."""
        return sorted({record["version"] for _, _, _, record in self._all() if "version" in record})

    def busy(self, cores: int) -> list[str]:
        """Return what ran while much more than it wanted the cores."""
        found = {
            f"{method} on {set_name}"
            for set_name, method, _, record in self._all()
            if record.get("load_average", 0.0) > cores + 1
        }
        return sorted(found)

    def failures(self) -> list[tuple[str, str, int, str]]:
        """Return set, method, split and reason of all that failed."""
        return [
            (set_name, name, k, record["error"])
            for set_name, name, k, record in self._all()
            if "error" in record
        ]

    def _all(self) -> Iterator[tuple[str, str, int, Record]]:
        for (set_name, name), splits in self.records.items():
            for k, record in splits.items():
                yield set_name, name, k, record


def _mean(values: Iterator[float | None]) -> float:
    known = [value for value in values if value is not None and not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan
