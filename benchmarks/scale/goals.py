"""What is aimed at: ratios of the measurements, each with its target."""

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from benchmarks.scale.cases import CASES, DTYPES, FLIGHTS_ROWS, GROWTH_CASES, GROWTH_DTYPE
from benchmarks.scale.summary import Summary

MEMORY_MB = 700
FEW_ROWS, MANY_ROWS = 1_000_000, 8_000_000


class Goal(NamedTuple):
    """A measured number beside its target; `at_least` says on which side it should lie."""

    text: str
    value: float
    target: float
    at_least: bool = False

    @property
    def verdict(self) -> str:
        """Whether the target is met."""
        if math.isnan(self.value):
            return "not measured"
        met = self.value >= self.target if self.at_least else self.value <= self.target
        return "yes" if met else "no"


def at_rows(summary: Summary, rows: int) -> list[Goal]:
    """Return the goals that arrays of so many rows are measured for."""
    goals = (_against_hp_elm, _against_naive, _against_point, _of_ceiling)
    return [one for group in goals for one in group(summary, rows)]


def elsewhere(summary: Summary) -> list[Goal]:
    """Return the goals of growing files, of flights, and of small data."""
    return [*_growth(summary), _flights(summary), _small(summary)]


def _against_hp_elm(summary: Summary, rows: int) -> Iterator[Goal]:
    """Compare intervals with a point model alone; double precision is the default of HP-ELM."""
    for ours, theirs in (("float32", "float64"), ("float32", "float32"), ("float64", "float64")):
        value = summary.seconds("elmband-interval", ours, rows) / summary.hp_elm(theirs, rows)
        yield Goal(f"1. published fit {ours} / HP-ELM point fit {theirs}", value, 1.0)


def _against_naive(summary: Summary, rows: int) -> Iterator[Goal]:
    pairs = (
        ("interval", "own", "shared layer", "naive as in the paper, batch=1000"),
        ("interval", "own-batch", "shared layer", "naive as in the paper, batch=10000"),
        ("interval", "shared", "shared layer", "naive, shared layer, batch=10000"),
        ("own", "own-batch", "own layers", "naive as in the paper, batch=10000"),
    )
    targets = (("float32", "float64", 1 / 5), ("float64", "float64", 1 / 5))
    for ours, theirs, text, other in pairs:
        for mine, dtype, target in (*targets, ("float32", "float32", 1 / 3)):
            naive = summary.seconds(f"naive-{theirs}", dtype, rows)
            value = summary.seconds(f"elmband-{ours}", mine, rows) / naive
            yield Goal(f"1. published fit, {text}, {mine} / {other}, {dtype}", value, target)


def _against_point(summary: Summary, rows: int) -> Iterator[Goal]:
    for dtype in DTYPES:
        point = summary.seconds("elmband-point", dtype, rows)
        exact, fast = (
            summary.seconds(name, dtype, rows) for name in ("elmband-interval", "elmband-fast")
        )
        yield Goal(f"2. published fit / point fit, {dtype}", exact / point, 4.5)
        yield Goal(f"2. published fit in fast mode / point fit, {dtype}", fast / point, 1.7)
        for name, text, target in (("interval", "exact", 3.5), ("fast", "fast mode", 2.0)):
            times = [
                summary.seconds(f"elmband-{name}", dtype, rows, phase)
                for phase in ("interval", "predict")
            ]
            goal = f"2. predict_interval / predict, {text}, {dtype}"
            yield Goal(goal, times[0] / times[1], target)


def _of_ceiling(summary: Summary, rows: int) -> Iterator[Goal]:
    for dtype in DTYPES:
        share = summary.rate(CASES["elmband-interval"], dtype, rows) / summary.ceiling(dtype)
        text = f"3. published fit: necessary work / matrix-product rate, {dtype}"
        yield Goal(text, share, 0.45, at_least=True)


def _growth(summary: Summary) -> Iterator[Goal]:
    for case in GROWTH_CASES:
        label = CASES[case].label
        factors = [summary.doubling(case, *sizes) for sizes in pairwise(summary.growth(case))]
        worst = max(factors, default=math.nan)
        yield Goal(f"4. {label}: largest growth of time per doubling of rows", worst, 2.1)
        few, many = (summary.peak(case, GROWTH_DTYPE, n)[0] for n in (FEW_ROWS, MANY_ROWS))
        text = f"4. {label}: peak memory at {MANY_ROWS:,} / {FEW_ROWS:,} rows"
        yield Goal(text, many / few, 1.05)
        yield Goal(f"4. {label}: peak MB at {MANY_ROWS:,} rows", many, MEMORY_MB)


def _flights(summary: Summary) -> Goal:
    parquet, npy = (
        summary.seconds(f"elmband-flights-{kind}", "float64", FLIGHTS_ROWS)
        for kind in ("parquet", "npy")
    )
    return Goal("4. flights from Parquet / the same numbers from .npy", parquet / npy, 1.3)


def _small(summary: Summary) -> Goal:
    seconds = summary.seconds("elmband-small", "float64", 0, "both")
    return Goal("5. defaults on 1,000 rows of 8: fit and 95 % intervals, seconds", seconds, 0.5)
