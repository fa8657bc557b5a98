"""Tables that need not fit in memory: files, arrays and functions as chunks of rows."""

from elmband.sources.stream.opening import scan
from elmband.sources.stream.scan import Scan

__all__ = ["Scan", "scan"]
