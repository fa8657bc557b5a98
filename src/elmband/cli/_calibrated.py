"""What ``elmband fit --calibrate`` made of rows held out."""

import math
from typing import Any, NamedTuple, Self

from elmband import ELMIntervalRegressor
from elmband.cli._files import named
from elmband.cli._missing import dropped, dropped_line, used_rows
from elmband.cli._promise import LEVELS, highest_level, multipliers, percent_down, rows_for
from elmband.ground.printable import on_one_line
from elmband.ground.wording import counted, percent_exactly


class Before(NamedTuple):
    """How wide intervals were as estimated, in standard deviations at each of the levels.

    None where that is no comparison: of classes, and where bounds were among a few values.
    """

    widths: tuple[float, ...] | None

    @classmethod
    def of(cls, model: Any) -> Self:
        """Look at a model that is not calibrated yet."""
        if not isinstance(model, ELMIntervalRegressor) or model.target_values_ is not None:
            return cls(None)
        return cls(tuple(multipliers(model, level) for level in LEVELS))


def calibration_facts(
    model: Any, held_out: Any, data: str, labels: Any, before: Before, *, drop_missing: bool
) -> dict[str, Any]:
    """Return how many rows calibrated a model, and what became of its intervals."""
    facts: dict[str, Any] = {"data": named(data), "rows": used_rows(held_out)}
    if labels is not None:
        facts["groups"] = int(labels.max()) + 1
    if drop_missing:
        facts["dropped_rows"] = dropped(held_out)
    if not isinstance(model, ELMIntervalRegressor):
        return facts
    widths = [multipliers(model, level) for level in LEVELS]
    former = before.widths or (math.nan,) * len(LEVELS)
    facts["highest_level"] = highest_level(model)
    facts["levels"] = [
        {
            "confidence_level": level,
            "finite": math.isfinite(width),
            "width_factor": width / old if old > 0 and math.isfinite(width) else None,
        }
        for level, width, old in zip(LEVELS, widths, former, strict=True)
    ]
    return facts


def calibration_lines(model: Any, facts: dict[str, Any]) -> list[str]:
    """Say what was made of rows held out."""
    lines = [_intervals(model, facts) if "levels" in facts else _classes(model, facts)]
    if facts.get("dropped_rows"):
        lines.append(f"Of the rows held out, {_lower(dropped_line(facts['dropped_rows']))}")
    return lines


def _rows(facts: dict[str, Any]) -> str:
    rows = f"{counted(facts['rows'], 'row')} of {on_one_line(facts['data'])}"
    if "groups" in facts:
        return f"{counted(facts['groups'], 'group')} ({rows})"
    return rows


def _intervals(model: Any, facts: dict[str, Any]) -> str:
    unit = "groups" if "groups" in facts else "rows"
    ones = "a row of a new group" if "groups" in facts else "rows like these"
    begun = f"Calibrated on {_rows(facts)}: "
    infinite = [level["confidence_level"] for level in facts["levels"] if not level["finite"]]
    words = (
        f"intervals of up to {percent_down(facts['highest_level'])} are guaranteed to cover at "
        f"least their level, on average over {ones}"
    )
    if len(infinite) == len(LEVELS):
        words = f"too few {unit} to guarantee any level from {percent_exactly(LEVELS[0])} on"
    words += _compared(facts["levels"])
    if infinite:
        words += (
            f"; those of {percent_exactly(infinite[0])} are infinite, "
            f"{rows_for(model, infinite[0])} {unit} are the least for them"
        )
    return f"{begun}{words}."


def _compared(levels: list[dict[str, Any]]) -> str:
    """Compare widths at 90 %, or below where these are infinite."""
    known = [level for level in levels[:2] if level["width_factor"] is not None]
    if not known:
        return ""
    level = known[-1]
    return (
        f"; at {percent_exactly(level['confidence_level'])} they are "
        f"{level['width_factor']:.2f} times as wide as estimated"
    )


def _classes(model: Any, facts: dict[str, Any]) -> str:
    if model.has_thresholds:
        return f"Calibrated on {_rows(facts)}."
    return (
        f"Calibrated on {_rows(facts)}, kept in the model: what triage is asked for, as in "
        "--max-error 0.01, is then promised."
    )


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
