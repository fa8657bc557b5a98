"""What a model promises: an estimate, or a guarantee and up to which level."""

import math
import warnings
from typing import Any

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.ground.wording import counted

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


def percent_down(level: float) -> str:
    """Write a level in percent, with one decimal that promises no more than there is.

    Examples
    --------
    >>> percent_down(111 / 112), percent_down(19 / 20)
    ('99.1 %', '95 %')
    """
    return f"{math.floor(1000 * level + 1e-9) / 10:g} %"


def _whole(n: float) -> float | int:
    """Return a number of rows; those of unequal weights are worth no whole number."""
    return round(n) if math.isclose(n, round(n)) else n
