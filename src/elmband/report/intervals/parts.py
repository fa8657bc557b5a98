"""What uncertainty is made of: noise in the targets, and too little data to know better."""

from typing import Any

from elmband.report.intervals.counts import Plan, Seen


def parts(plan: Plan, seen: Seen) -> dict[str, Any]:
    """Return both shares of the variance of an average row, and the bin that knows least.

    Bins of any one feature hold all rows.
    """
    first = seen.bins.sums[: plan.features.counts[0]].sum(axis=0)
    return {"noise": float(first[3] / first[0]), "unknown": float(first[4] / first[0])}
