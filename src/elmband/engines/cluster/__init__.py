"""Rows on many machines: the sums of a fit run where the rows are, and only sums travel."""

from elmband.engines.cluster.collections import (
    Collected,
    collected,
    example_of,
    is_dask,
    is_dask_frame,
)
from elmband.engines.cluster.executor import runner_of
from elmband.engines.cluster.files import scan_partitions
from elmband.engines.cluster.labels import label_rows, numbered, one_column
from elmband.engines.cluster.lazy import lazily
from elmband.engines.cluster.rows import ClusterRows, as_it_is
from elmband.engines.cluster.written import Answers, check_folder, write_parts

__all__ = [
    "Answers",
    "ClusterRows",
    "Collected",
    "as_it_is",
    "check_folder",
    "collected",
    "example_of",
    "is_dask",
    "is_dask_frame",
    "label_rows",
    "lazily",
    "numbered",
    "one_column",
    "runner_of",
    "scan_partitions",
    "write_parts",
]
