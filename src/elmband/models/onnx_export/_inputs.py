"""What the inputs of a graph that takes a table are, in words and in facts that programs read."""

from typing import Any

import numpy as np

from elmband.sources.encode.state import (
    EncoderState,
    LevelsColumn,
    NumberColumn,
    TimeColumn,
    UsedColumn,
)

# So many levels are named in the text of an input; the facts have all of them.
_NAMED = 20
_MINUTE = np.timedelta64(60, "s")


def missing_text(column: LevelsColumn) -> str:
    """Return the text that stands for a missing one: an empty text, unless that is a level."""
    text = ""
    while text in column.known:
        text = f"<{text or 'missing'}>"
    return text


def text_of(column: UsedColumn) -> str:
    """Return what an input takes, in words."""
    start = f"Column {column.name!r}: "
    if isinstance(column, NumberColumn):
        what = "numbers, booleans as 0 and 1"
        if column.kind == "durations":
            what = "durations in seconds"
        return f"{start}{what}; NaN where missing{_range_text(column)}."
    if isinstance(column, LevelsColumn):
        how = ", whole numbers without a point" if column.categorical else ""
        levels = [repr(level) for level in column.levels[:_NAMED]]
        more = len(column.levels) - _NAMED
        levels += [f"{more} more"] if more > 0 else []
        known = f"; levels are {', '.join(levels)}" if levels else ""
        return f"{start}text{how}; {missing_text(column)!r} where missing{known}."
    if column.kind == "times of day":
        since = "midnight"
    else:
        clocks = "" if column.zone is None else f" on the clocks of {column.zone}"
        since = f"1970-01-01 00:00{clocks}"
    return f"{start}microseconds since {since}; -2**63 where missing{_range_text(column)}."


def facts_of(state: EncoderState, names: dict[str, str]) -> list[dict[str, Any]]:
    """Return the column, kind, unit, mark of missing values, range and levels of every input."""
    return [{"input": names[c.name], "column": c.name, **_facts(c)} for c in state.used]


def _facts(column: UsedColumn) -> dict[str, Any]:
    if isinstance(column, LevelsColumn):
        other = ["other"] if column.other else []
        return {
            "kind": "text",
            "missing": missing_text(column),
            "levels": list(column.levels),
            "rare_levels": list(column.rare),
            "unseen": other[0] if other and not column.rare else "mean of training rows",
        }
    low, high = _range(column)
    ends = {} if low is None else {"training_low": low, "training_high": high}
    if isinstance(column, NumberColumn):
        unit = {"unit": "seconds"} if column.kind == "durations" else {}
        return {"kind": column.kind, **unit, "missing": "NaN", **ends}
    since = "midnight" if column.kind == "times of day" else "1970-01-01T00:00:00"
    return {
        "kind": column.kind,
        "unit": "microseconds",
        "since": since,
        "time_zone": column.zone,
        "missing": "-2**63",
        **ends,
    }


def _range_text(column: NumberColumn | TimeColumn) -> str:
    low, high = _range(column)
    if low is None:
        return ""
    ends = (f"{low:.6g}", f"{high:.6g}") if isinstance(low, float) else (low, high)
    return f"; {ends[0]} to {ends[1]} in training"


def _range(column: NumberColumn | TimeColumn) -> tuple[Any, Any]:
    """Return the least and the largest value of the fit, None where they are not known."""
    ends = column.low, column.high
    if not np.isfinite(ends).all() or (
        isinstance(column, TimeColumn) and column.kind == "times of day"
    ):
        return None, None
    first, last = map(float if isinstance(column, NumberColumn) else _day, ends)
    return first, last


def _day(year: float) -> str:
    """Return the day of a year with a fraction, as text."""
    start = np.datetime64(f"{int(np.floor(year)):04d}", "Y")
    first, last = start.astype("M8[s]"), (start + 1).astype("M8[s]")
    # A fraction has some digits only, and shall not fall into the day before.
    moment = first + (year - np.floor(year)) * (last - first) + _MINUTE / 2
    return str(moment.astype("M8[D]"))
