"""All numbers of the page on a classifier."""

from functools import partial
from typing import Any

from elmband.engines.progress import Bar
from elmband.report.bins import with_gaps
from elmband.report.classes.accuracy import probability, right
from elmband.report.classes.counts import Counts, count_block, make_plan
from elmband.report.classes.people import people
from elmband.report.classes.promise import promise, worth
from elmband.report.classes.trust import bins, features, groups
from elmband.report.depends import depends
from elmband.report.first_pass import FirstPass
from elmband.report.rows import LabelledRows, total
from elmband.report.shares import limits
from elmband.report.single import N_SHOWN, class_rows


def class_report(
    model: Any, rows: LabelledRows, first: FirstPass, bar: Bar | None
) -> dict[str, Any]:
    """Count all rows, and return one value for each section."""
    plan = make_plan(model, rows.axes, first)
    found = Counts(*total(rows, partial(count_block, plan), bar, "predictions").parts)
    lines = bins(plan, found)
    overall = right(plan, found)
    split = [
        groups(*one, overall["share"])
        for one in zip(found.groups.parts, rows.names_of_groups, plan.cuts, strict=True)
    ]
    kept = promise(plan, found)
    positive = plan.positive
    return {
        "labels": plan.labels,
        "n_classes": len(plan.labels),
        "positive": None if positive is None else plan.labels[positive],
        "promise": kept,
        "worth": worth(model),
        "right": overall,
        "limits": limits(overall["share"]),
        "probability": probability(plan, found),
        "groups": split,
        "features": features(plan, lines),
        "bins": with_gaps(plan.features, lines),
        "depends": depends(model, noise=False),
        "people": people(plan, found, None if kept is None else kept["answered"]),
        "shown": [axis.name for axis in plan.features.axes[:N_SHOWN]],
        "misses": class_rows(plan.features, plan.labels, found.worst),
        "unsure": class_rows(plan.features, plan.labels, found.unsure),
    }
