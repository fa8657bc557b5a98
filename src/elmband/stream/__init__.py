"""Tables that need not fit in memory: files, arrays and functions as chunks of rows."""

from elmband.stream.opening import scan
from elmband.stream.scan import Scan

__all__ = ["Scan", "scan"]
