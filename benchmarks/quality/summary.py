"""Sums over splits, then over sets. A set is judged only on splits that both methods finished."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from benchmarks.quality.data import SETS
from benchmarks.quality.rivals import METHODS
from benchmarks.quality.store import Key, Record

OURS = "elmband"
CLOSE = 1.05
LARGE = 1000


@dataclass(frozen=True)
class Summary:
    """All records, by set and method and then by split."""

    records: dict[Key, dict[int, Record]]

    @cached_property
    def good(self) -> dict[Key, dict[int, Record]]:
        """Records of finished splits, without failures; pairs with none are left out."""
        kept = {
            key: {k: record for k, record in splits.items() if "error" not in record}
            for key, splits in self.records.items()
            if key[0] in SETS and key[1] in METHODS
        }
        return {key: splits for key, splits in kept.items() if splits}

    @cached_property
    def sets(self) -> list[str]:
        """Sets with results, in the order of the benchmark."""
        present = {set_name for set_name, _ in self.good}
        return [name for name in SETS if name in present]

    @cached_property
    def methods(self) -> list[str]:
        """Methods with results, in the order of the benchmark."""
        present = {method for _, method in self.good}
        return [name for name in METHODS if name in present]

    def values(self, set_name: str, method: str, key: str) -> list[float]:
        """Return a metric at each finished split; methods that lack it give an empty list."""
        splits = self.good.get((set_name, method), {})
        return [splits[k][key] for k in sorted(splits) if splits[k].get(key) is not None]

    def mean(self, set_name: str, method: str, key: str) -> float:
        """Return the mean of a metric over splits, NaN where there is none."""
        values = self.values(set_name, method, key)
        return float(np.mean(values)) if values else np.nan

    def median(self, set_name: str, method: str, key: str) -> float:
        """Return the median of a metric over splits, NaN where there is none."""
        values = self.values(set_name, method, key)
        return float(np.median(values)) if values else np.nan

    def in_sd(self, set_name: str, method: str, key: str) -> float:
        """Return the mean of a metric in units of the standard deviation of y."""
        return self.mean(set_name, method, key) / self.mean(set_name, method, "y_sd")

    def fifths(self, set_name: str, method: str, key: str) -> list[float]:
        """Return the coverage of each fifth, averaged over splits; empty where there is none."""
        values = self.values(set_name, method, key)
        return np.mean(values, axis=0).tolist() if values else []

    def ratio(self, set_name: str, ours: str, theirs: str, key: str) -> float:
        """Return the ratio of two methods' means over the splits that both finished."""
        a, b = self.good.get((set_name, ours), {}), self.good.get((set_name, theirs), {})
        common = sorted(a.keys() & b.keys())
        if not common:
            return np.nan
        top, bottom = (np.mean([splits[k][key] for k in common]) for splits in (a, b))
        if np.isinf(top) and np.isinf(bottom):
            return 1.0
        return float(top / bottom)

    def pooled_ratio(self, ours: str, theirs: str, key: str) -> float:
        """Return the geometric mean over sets of ratios clipped to [1/2, 2]."""
        ratios = finite(self.ratio(name, ours, theirs, key) for name in self.sets)
        return float(np.exp(np.mean(np.log(np.clip(ratios, 0.5, 2))))) if ratios else np.nan

    def close_to_best(self, method: str, key: str) -> tuple[int, int]:
        """Count the sets where a method is best or within 5 % of the best, and all its sets.

        elmband's other settings are no rivals of elmband, nor of anyone else.
        """
        rivals = [name for name in self.methods if not name.startswith(f"{OURS}-")]
        close = total = 0
        for name in self.sets:
            ratios = finite(self.ratio(name, method, other, key) for other in rivals)
            if (name, method) in self.good:
                total += 1
                close += all(ratio <= CLOSE for ratio in ratios)
        return close, total

    def coverage_error(self, method: str, level: int, *, large: bool) -> tuple[float, float]:
        """Return the mean and the worst deviation of coverage, in points, over sets of one size."""
        off = finite(
            100 * self.mean(name, method, f"picp{level}") - level
            for name in self.sets
            if (name, method) in self.good and (self.rows(name) >= LARGE) == large
        )
        return (float(np.mean(off)), max(off, key=abs)) if off else (np.nan, np.nan)

    def rows(self, set_name: str) -> int:
        """Return the size of a set."""
        splits = next(splits for key, splits in self.good.items() if key[0] == set_name)
        return int(next(iter(splits.values()))["rows"])

    def failures(self) -> dict[tuple[str, str, str, str], list[int]]:
        """Return splits that failed, by set, method, kind and sentence."""
        found: dict[tuple[str, str, str, str], list[int]] = {}
        for (set_name, method), splits in self.records.items():
            for k in sorted(splits):
                if "error" in splits[k]:
                    key = (set_name, method, splits[k]["kind"], splits[k]["error"])
                    found.setdefault(key, []).append(k)
        return found


def finite(values: Iterable[float]) -> list[float]:
    """Return the values that are not NaN; infinite scores stay, they are results."""
    return [value for value in values if not np.isnan(value)]
