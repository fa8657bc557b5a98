"""Tables that need not fit in memory: files, arrays and functions as chunks of rows."""

from elmband.stream.scan import Scan, scan

__all__ = ["Scan", "scan"]
