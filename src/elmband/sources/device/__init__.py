"""Rows on another device.

NumPy rows and scans travel there through two pinned buffers. What is computed there is the same as
everywhere: chunk maps know the array library of a chunk, not where it came from.
"""

from elmband.sources.device.finite import check_finite
from elmband.sources.device.rows import DeviceRows, on_device, sent
from elmband.sources.device.where import (
    check_movable,
    is_gpu_array,
    resolve,
    room,
    rows_at_once,
    sent_rows,
)
from elmband.sources.device.wire import moved

__all__ = [
    "DeviceRows",
    "check_finite",
    "check_movable",
    "is_gpu_array",
    "moved",
    "on_device",
    "resolve",
    "room",
    "rows_at_once",
    "sent",
    "sent_rows",
]
