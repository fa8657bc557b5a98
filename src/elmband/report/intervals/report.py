"""All numbers of the page on a model with intervals."""

from functools import partial
from typing import Any

from elmband.engines.progress import Bar
from elmband.models.intervals import check_levels
from elmband.report.bins import with_gaps
from elmband.report.depends import depends
from elmband.report.first_pass import Look
from elmband.report.intervals.counts import Plan, Seen, count_block, make_plan, seen
from elmband.report.intervals.first_look import constant_guess, impossible, sides, worth
from elmband.report.intervals.parts import parts
from elmband.report.intervals.people import people
from elmband.report.intervals.predictions import levels_of
from elmband.report.intervals.promise import groups, promise
from elmband.report.intervals.single import single_rows
from elmband.report.intervals.trust import bins, features, overall
from elmband.report.rows import LabelledRows, total
from elmband.report.shares import limits
from elmband.report.single import N_SHOWN


def checked_level(confidence_level: Any) -> float:
    """Return the only level asked for."""
    levels = check_levels(confidence_level)
    if not levels.single:
        raise ValueError("A report takes a single confidence_level, such as 0.9.")
    return levels.values[0]


def interval_report(
    model: Any, rows: LabelledRows, look: Look, level: float, unit: str, bar: Bar | None
) -> dict[str, Any]:
    """Count all rows, and return one value for each section."""
    plan = make_plan(model, levels_of(model, level), level, rows.axes, look)
    found = seen(total(rows, partial(count_block, plan), bar, "predictions"))
    return sections(plan, found, rows, unit)


def sections(plan: Plan, found: Seen, rows: LabelledRows, unit: str) -> dict[str, Any]:
    """Return one value for each section."""
    lines = bins(plan, found)
    scores = found.scores.summary()
    split = [
        groups(plan, *one)
        for one in zip(found.groups, rows.names_of_groups, plan.cuts, strict=True)
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
        "parts": parts(plan, found),
        "depends": depends(plan.model),
        "shown": [axis.name for axis in plan.features.axes[:N_SHOWN]],
        "misses": single_rows(plan, found.worst),
        "widest": single_rows(plan, found.widest),
        "narrowest": single_rows(plan, found.narrowest),
        "scores": {"mae": scores.mae, "rmse": scores.rmse, "r2": scores.r2},
        "target_range": {
            "low": float(targets.low[0]),
            "mean": float(targets.targets.mean[0]),
            "high": float(targets.high[0]),
        },
    }
