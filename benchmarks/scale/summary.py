"""Measurements by name, the rates and ratios between them. NaN stands for what was not measured."""

import math
from collections.abc import Iterator

from benchmarks.quality.store import Key, Record
from benchmarks.scale.cases import CASES, CEILING_SIZE, GROWTH_DTYPE, GROWTH_ROWS, Case

NAN = math.nan


class Summary:
    """All finished measurements, by dtype, case and number of rows."""

    def __init__(self, records: dict[Key, dict[int, Record]]) -> None:
        self.records = records

    def record(self, case: str, dtype: str, rows: int) -> Record | None:
        """Return a measurement, or None where there is none or it failed."""
        found = self.records.get((dtype, case), {}).get(CASES[case].rows or rows)
        return None if found is None or "error" in found else found

    def seconds(self, case: str, dtype: str, rows: int, phase: str = "fit") -> float:
        """Return the best time of a phase."""
        record = self.record(case, dtype, rows)
        return NAN if record is None else float(record["seconds"].get(phase, NAN))

    def score(self, case: str, dtype: str, rows: int, name: str) -> float:
        """Return a score of the predictions."""
        record = self.record(case, dtype, rows)
        return NAN if record is None else float(record["scores"].get(name, NAN))

    def peak(self, case: str, dtype: str, rows: int) -> tuple[float, float]:
        """Return the peak memory of a fit in MB: of the whole process, and beyond the data."""
        record = self.record(case, dtype, rows)
        if record is None:
            return NAN, NAN
        peak = record["peak_mb"]["fit"]
        return peak, peak - record["baseline_mb"]

    def hp_elm(self, dtype: str, rows: int) -> float:
        """Return the time of a fit with HP-ELM, at its faster batch size."""
        return self._faster(("hp-elm", "hp-elm-batch"), dtype, rows)

    def naive(self, dtype: str, rows: int) -> float:
        """Return the time of the naive algorithm as in the paper, at its faster batch size."""
        return self._faster(("naive-own", "naive-own-batch"), dtype, rows)

    def _faster(self, cases: tuple[str, ...], dtype: str, rows: int) -> float:
        times = [self.seconds(name, dtype, rows) for name in cases]
        return min((time for time in times if not math.isnan(time)), default=NAN)

    def ceiling(self, dtype: str) -> float:
        """Return the rate of matrix products in GFLOP/s."""
        return 2 * CEILING_SIZE**3 / self.seconds("machine-matmul", dtype, 0) / 1e9

    def rate(self, case: Case, dtype: str, rows: int) -> float:
        """Return the necessary work of a fit over its time, in GFLOP/s."""
        if case.name == "machine-matmul":
            return self.ceiling(dtype)
        work = NAN if case.work is None else case.work * rows / 1e9
        return work / self.seconds(case.name, dtype, rows)

    def sizes(self) -> list[int]:
        """Return the numbers of rows that arrays in memory were measured with."""
        choosable = {case.name for case in CASES.values() if not (case.file or case.rows)}
        found = (runs for (_, name), runs in self.records.items() if name in choosable)
        return sorted({rows for runs in found for rows in runs})

    def growth(self, case: str) -> list[int]:
        """Return the numbers of rows that a case was streamed with, if they show growth."""
        sizes = [rows for rows in GROWTH_ROWS if self.record(case, GROWTH_DTYPE, rows)]
        return sizes if len(sizes) > 1 else []

    def doubling(self, case: str, fewer: int, more: int) -> float:
        """Return by how much the time grows per doubling of rows between two sizes."""
        times = [self.seconds(case, GROWTH_DTYPE, rows) for rows in (fewer, more)]
        return float(2 ** (math.log(times[1] / times[0]) / math.log(more / fewer)))

    def versions(self) -> list[str]:
        """Return the versions of everything measured."""
        return sorted({record["version"] for _, record in self._good()})

    def busy(self, cores: int) -> list[str]:
        """Return the cases during which much more than they themselves wanted the cores."""
        return sorted({name for name, record in self._good() if record["load_average"] > cores + 1})

    def problems(self) -> list[tuple[str, str, int, str, str]]:
        """Return case, dtype, rows, kind and reason of all that was skipped or failed."""
        return [
            (name, dtype, rows, record["kind"], record["error"])
            for (dtype, name), runs in self.records.items()
            for rows, record in runs.items()
            if "error" in record
        ]

    def _good(self) -> Iterator[tuple[str, Record]]:
        for (_, name), runs in self.records.items():
            yield from ((name, record) for record in runs.values() if "error" not in record)
