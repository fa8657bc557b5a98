"""Rows on many machines: the sums of a fit run where the rows are, and only sums travel."""

from elmband.cluster.collections import Collected, collected, example_of, is_dask, is_dask_frame
from elmband.cluster.files import scan_partitions
from elmband.cluster.lazy import lazily
from elmband.cluster.rows import ClusterRows
from elmband.cluster.runners import runner_of

__all__ = [
    "ClusterRows",
    "Collected",
    "collected",
    "example_of",
    "is_dask",
    "is_dask_frame",
    "lazily",
    "runner_of",
    "scan_partitions",
]
