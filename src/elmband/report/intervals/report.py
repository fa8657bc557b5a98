"""All numbers of the page on a model with intervals."""

from functools import partial
from typing import Any

from elmband.engines.progress import Bar
from elmband.models.intervals import check_levels
from elmband.report.bins import with_gaps
from elmband.report.depends import depends
from elmband.report.first_pass import FirstPass
from elmband.report.intervals.counts import Counts, count_block, make_plan
from elmband.report.intervals.first_look import constant_guess, impossible, sides, worth
from elmband.report.intervals.people import people
from elmband.report.intervals.predictions import levels_of
from elmband.report.intervals.promise import groups, promise
from elmband.report.intervals.trust import bins, features, overall, variance_parts
from elmband.report.rows import LabelledRows, total
from elmband.report.shares import limits
from elmband.report.single import N_SHOWN, interval_rows


def checked_level(confidence_level: Any) -> float:
    """Return the only level asked for."""
    levels = check_levels(confidence_level)
    if not levels.single:
        raise ValueError("A report takes a single confidence_level, such as 0.9.")
    return levels.values[0]


def interval_report(
    model: Any, rows: LabelledRows, first: FirstPass, level: float, unit: str, bar: Bar | None
) -> dict[str, Any]:
    """Count all rows, and return one value for each section."""
    plan = make_plan(model, levels_of(model, level), level, rows.axes, first)
    found = Counts(*total(rows, partial(count_block, plan), bar, "predictions").parts)
    lines = bins(plan, found)
    scores = found.scores.summary()
    split = [
        groups(plan, *one)
        for one in zip(found.groups.parts, rows.names_of_groups, plan.cuts, strict=True)
    ]
    targets = found.scores
    return {
        "level": plan.level,
        "limits": limits(plan.level),
        "typical": overall(plan, found),
        "promise": promise(plan, found),
        "worth": worth(plan.model),
        "sides": sides(found),
        "impossible": impossible(plan, found),
        "constant": constant_guess(plan, found),
        "groups": split,
        "features": features(plan, lines, unit),
        "bins": with_gaps(plan.features, lines),
        "people": people(found, unit),
        "parts": variance_parts(plan, found),
        "depends": depends(plan.model),
        "shown": [axis.name for axis in plan.features.axes[:N_SHOWN]],
        "misses": interval_rows(plan.features, found.worst),
        "widest": interval_rows(plan.features, found.widest),
        "narrowest": interval_rows(plan.features, found.narrowest),
        "scores": {"mae": scores.mae, "rmse": scores.rmse, "r2": scores.r2},
        "target_range": {
            "low": float(targets.low[0]),
            "mean": float(targets.targets.mean[0]),
            "high": float(targets.high[0]),
        },
    }
