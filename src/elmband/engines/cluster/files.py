"""A scan cut into partitions that workers read by themselves: only names and numbers travel."""

from elmband.sources.stream import Scan
from elmband.sources.stream.ranges import RowRange

# Bytes of features in a partition. Where that would make too many partitions for the client to
# list, partitions are larger.
_PARTITION_BYTES = 2**23
_MOST_PARTITIONS = 2**15


def scan_partitions(
    scan: Scan, most: int = _MOST_PARTITIONS, *, features: bool = True
) -> list[RowRange]:
    """Cut the files of a scan into ranges of rows, about `most` of them at most.

    Without `features`, only targets and weights are read.
    """
    step = max(_PARTITION_BYTES // (scan.n_features * scan.dtype.itemsize), 1)
    step = max(step, -(-(scan.n_rows or 0) // most))
    # Whole chunks, or the last one of every range would be shorter.
    return scan.ranges(-(-step // scan.chunk_size) * scan.chunk_size, features=features)
