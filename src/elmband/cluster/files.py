"""A scan cut into partitions that workers read by themselves: only names and numbers travel."""

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any

from elmband.moments import Chunk
from elmband.stream import Scan
from elmband.stream.blocks import kept_rows
from elmband.stream.fields import Part
from elmband.stream.files import check_unchanged
from elmband.stream.sources import PartList

# Rows whose features take about this much are one partition, or more where there would be more
# partitions than the client should have to name.
_PARTITION_BYTES = 2**23
_MOST_PARTITIONS = 2**15


@dataclass(frozen=True, eq=False)
class ScanPartition:
    """Rows `first` to `stop` of one file of a scan; all of them where `stop` is None.

    The scan is one without its other files.
    """

    scan: Scan
    part: Part
    first: int
    stop: int | None

    @property
    def label(self) -> str:
        """File and rows."""
        rows = "" if self.stop is None else f", rows {self.first} to {self.stop - 1}"
        return f"{self.part.layout.label}{rows}"

    def chunks(self, size: int) -> Iterator[Chunk]:
        """Read the rows with the reader of the scan, whose errors name the file."""
        check_unchanged(self.part.stamps)
        reader = self.scan._reader(self.scan._selection)  # noqa: SLF001 - it is cut, not opened anew
        yield from kept_rows(self._cut(reader.chunks([self.part], size, self.first)))
        check_unchanged(self.part.stamps)

    def _cut(self, chunks: Iterator[list[Any]]) -> Iterator[list[Any]]:
        """End where the next partition begins."""
        left = None if self.stop is None else self.stop - self.first
        for arrays in chunks:
            if left is not None and len(arrays[0]) >= left:
                yield [a[:left] for a in arrays]
                return
            yield arrays
            left = None if left is None else left - len(arrays[0])


def scan_partitions(scan: Scan) -> list[ScanPartition]:
    """Cut the files of a scan into ranges of rows; files that cannot tell rows stay whole."""
    parts = scan._source.parts  # noqa: SLF001 - as above
    if not parts or not all(part.stamps for part in parts):
        raise ValueError(
            f"{scan!r} is not made of files; workers need files that they can read themselves, "
            "or a Dask collection."
        )
    step = max(_PARTITION_BYTES // (scan.n_features * scan.dtype.itemsize), 1)
    step = max(step, (scan.n_rows or 0) // _MOST_PARTITIONS)
    # Whole chunks: the last one of a range would be cut short else.
    step = -(-step // scan.chunk_size) * scan.chunk_size
    empty = _without_files(scan)
    found = []
    for part in parts:
        n_rows = part.layout.rows(scan._selection.fields)  # noqa: SLF001 - as above
        starts = [0] if n_rows is None else range(0, n_rows, step)
        for first in starts:
            stop = None if n_rows is None else min(first + step, n_rows)
            found.append(ScanPartition(empty, part, first, stop))
    return found


def _without_files(scan: Scan) -> Scan:
    """Return a scan that knows columns and types, but no list of files: it travels often."""
    light = copy(scan)
    # Asked for once, here, these are kept and travel with it.
    light._selection, light._own_dtype  # noqa: B018, SLF001
    light._given = light._source = PartList(scan._source.title, [])  # noqa: SLF001
    return light
