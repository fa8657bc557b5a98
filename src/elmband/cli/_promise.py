"""What a model promises: an estimate, or a guarantee, by the rows held out of ``--calibrate``."""

import math
import warnings
from typing import Any, NamedTuple, Self

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._files import named
from elmband.cli._labelled import dropped, dropped_line, used_rows
from elmband.ground.printable import on_one_line
from elmband.ground.wording import counted, percent_down, percent_exactly

# Where intervals are looked at.
LEVELS = (0.5, 0.9, 0.95)


def multipliers(model: Any, level: float) -> float:
    """Return both multipliers of an interval at a level together, infinite for too few rows."""
    calibration = model.calibration_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if model.symmetric_:
            return float(2 * calibration.symmetric(level, 0))
        return float(sum(calibration.tails(level, 0)))


def highest_level(model: Any) -> float:
    """Return the highest level of intervals with a guarantee that are finite, 0 if there is none.

    A multiplier is the ⌈(n + 1)·share⌉-th of n scores; the share is the level, or (1 + level) / 2
    where each tail has its own.
    """
    n = model.calibration_.outputs[0].both.n
    return float(n / (n + 1) if model.symmetric_ else max(n - 1, 0) / (n + 1))


def rows_for(model: Any, level: float) -> int:
    """Return how many rows, or groups, the guarantee at a level takes."""
    share = level if model.symmetric_ else (1 + level) / 2
    # Rounding makes a little more of whole numbers.
    return math.ceil(share / (1 - share) - 1e-9)


def promise_of(model: Any) -> dict[str, Any] | None:
    """Return what a model promises, in plain types; None where it says nothing of the kind."""
    if isinstance(model, ELMSelectiveClassifier):
        return _of_classes(model)
    if not isinstance(model, ELMIntervalRegressor) or model.fitted_.stale:
        return None
    calibration = model.calibration_
    if calibration.kind == "gaussian":
        return {"kind": "estimate", "from": "normal distribution"}
    known: dict[str, Any] = {calibration.unit: _whole(calibration.outputs[0].both.n)}
    if calibration.kind == "loo":
        return {"kind": "estimate", "from": "training rows left out"}
    return {"kind": "guarantee", "from": "rows held out", **known} | (
        {"highest_level": highest_level(model)} if model.fitted_.targets.single_output else {}
    )


def _of_classes(model: ELMSelectiveClassifier) -> dict[str, Any] | None:
    if not model.has_thresholds:
        return None
    promised = any(
        threshold is not None and threshold.kind == "promise"
        for threshold in model.thresholds_.values()
    )
    return {"kind": "guarantee" if promised else "estimate", "statement": model.statement_}


def promise_words(promise: dict[str, Any]) -> str:
    """Return the promise of intervals in words."""
    if promise["kind"] == "estimate":
        if promise["from"] == "normal distribution":
            return "an estimate: multipliers of the normal distribution, as published"
        return "an estimate, from training rows left out (fit --calibrate makes it a guarantee)"
    unit = "groups" if "groups" in promise else "rows"
    held_out = counted(promise[unit], unit[:-1])
    words = f"guaranteed by {held_out} held out: intervals cover at least their level, on average"
    if "highest_level" in promise:
        words += f", up to {percent_down(promise['highest_level'])}"
    return words


def _whole(n: float) -> float | int:
    """Return a number of rows; those of unequal weights are worth no whole number."""
    return round(n) if math.isclose(n, round(n)) else n


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
    lines = [
        _calibrated_intervals(model, facts)
        if "levels" in facts
        else _calibrated_classes(model, facts)
    ]
    if facts.get("dropped_rows"):
        lines.append(f"Of the rows held out, {_lower(dropped_line(facts['dropped_rows']))}")
    return lines


def _rows(facts: dict[str, Any]) -> str:
    rows = f"{counted(facts['rows'], 'row')} of {on_one_line(facts['data'])}"
    if "groups" in facts:
        return f"{counted(facts['groups'], 'group')} ({rows})"
    return rows


def _calibrated_intervals(model: Any, facts: dict[str, Any]) -> str:
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


def _calibrated_classes(model: Any, facts: dict[str, Any]) -> str:
    if model.has_thresholds:
        return f"Calibrated on {_rows(facts)}."
    return (
        f"Calibrated on {_rows(facts)}, kept in the model: what triage is asked for, as in "
        "--max-error 0.01, is then promised."
    )


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]
