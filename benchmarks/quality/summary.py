"""Sums over splits, then over sets. A set is judged only on splits that both methods finished."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from benchmarks.quality.data import SETS
from benchmarks.quality.rivals import METHODS
from benchmarks.quality.store import Key, Record

OURS = "elmband"
CLOSE = 1.05
LARGE = 1000
LEVELS = (90, 95)
OFF = 3.0
"""Points by which coverage may miss its level before a set counts as off."""


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

    @cached_property
    def with_intervals(self) -> list[str]:
        """Methods that predict intervals, and not points only."""
        return [
            method
            for method in self.methods
            if any(self.values(name, method, "picp90") for name in self.sets)
        ]

    def values(self, set_name: str, method: str, key: str) -> list[float]:
        """Return a metric at each finished split; methods that lack it give an empty list."""
        known = self._known(set_name, method, key)
        return [known[k] for k in sorted(known)]

    def _known(self, set_name: str, method: str, key: str) -> dict[int, Any]:
        """Return a metric by split, without splits that lack it."""
        splits = self.good.get((set_name, method), {})
        return {k: record[key] for k, record in splits.items() if record.get(key) is not None}

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
        a, b = (self._known(set_name, method, key) for method in (ours, theirs))
        common = sorted(a.keys() & b.keys())
        if not common:
            return np.nan
        top, bottom = (np.mean([known[k] for k in common]) for known in (a, b))
        if np.isinf(top) and np.isinf(bottom):
            return 1.0
        return float(top / bottom)

    def pooled_ratio(self, ours: str, theirs: str, key: str) -> float:
        """Return the geometric mean over sets of ratios clipped to [1/2, 2]."""
        ratios = finite(self.ratio(name, ours, theirs, key) for name in self.sets)
        return geometric(np.clip(ratios, 0.5, 2))

    def time_ratio(self, ours: str, theirs: str) -> tuple[float, float, str]:
        """Return the geometric mean over sets of ratios of seconds, the largest one, and its set.

        Nothing is clipped here: users wait for the slowest fit.
        """
        ratios = {name: self.ratio(name, ours, theirs, "seconds") for name in self.sets}
        known = {name: ratio for name, ratio in ratios.items() if not np.isnan(ratio)}
        if not known:
            return np.nan, np.nan, ""
        worst = max(known, key=known.__getitem__)
        return geometric(known.values()), known[worst], worst

    def close_to_best(self, method: str, key: str) -> tuple[int, int]:
        """Count the sets where a method is best or within 5 % of the best, and all its sets.

        elmband's other settings are no rivals of elmband, nor of anyone else.
        """
        rivals = [name for name in self.methods if not name.startswith(f"{OURS}-")]
        close = total = 0
        for name in self.sets:
            ratios = finite(self.ratio(name, method, other, key) for other in rivals)
            if self.values(name, method, key):
                total += 1
                close += all(ratio <= CLOSE for ratio in ratios)
        return close, total

    def coverage_error(self, method: str, level: int, *, large: bool) -> tuple[float, float]:
        """Return the mean and the worst deviation of coverage, in points, over sets of one size."""
        off = self._deviations(method, level, large=large)
        return (float(np.mean(off)), max(off, key=abs)) if off else (np.nan, np.nan)

    def coverage(self, method: str, level: int) -> float:
        """Return the mean coverage over sets of every size, in per cent."""
        both = (self._deviations(method, level, large=large) for large in (True, False))
        off = [value for one in both for value in one]
        return level + float(np.mean(off)) if off else np.nan

    def sets_off(self, method: str, level: int) -> tuple[int, int]:
        """Count the sets of 1,000 rows or more that miss a level by over 3 points, and all such."""
        off = self._deviations(method, level, large=True)
        return sum(abs(value) > OFF for value in off), len(off)

    def _deviations(self, method: str, level: int, *, large: bool) -> list[float]:
        """Return coverage less its level, in points, for each set of one size."""
        return finite(
            100 * self.mean(name, method, f"picp{level}") - level
            for name in self.sets
            if (self.rows(name) >= LARGE) == large
        )

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


def geometric(values: Iterable[float]) -> float:
    """Return the geometric mean, NaN of nothing."""
    logs = [np.log(value) for value in values]
    return float(np.exp(np.mean(logs))) if logs else np.nan


def finite(values: Iterable[float]) -> list[float]:
    """Return the values that are not NaN; infinite scores stay, they are results."""
    return [value for value in values if not np.isnan(value)]
