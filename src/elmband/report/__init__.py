"""One page on what a model promises, whether it keeps it, and where it can be trusted.

The page is a single HTML file for people who decide, not for people who train models. It holds
aggregates only: any number of rows are read twice, in flat memory.
"""

from elmband.report.write import write_report

__all__ = ["write_report"]
