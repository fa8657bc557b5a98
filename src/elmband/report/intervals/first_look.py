"""What its intervals are worth: estimate or guarantee, and beside one interval for all rows."""

from typing import Any

from elmband.report.intervals.counts import Counts, Plan

# By `Calibration.kind`: where widths come from, and what that is worth.
_WORTH = {
    "gaussian": (
        "the normal distribution",
        "This is an estimate: widths assume errors that are normally distributed.",
    ),
    "loo": (
        "training rows left out one by one",
        (
            "This is an estimate from training rows left out one by one: calibrate the model on "
            "rows held out from training to make it a guarantee."
        ),
    ),
    "conformal": (
        "rows held out from training",
        (
            "This is a guarantee for new rows of the same kind, on average over all of them: the "
            "model was calibrated on rows held out from training."
        ),
    ),
}


def worth(model: Any) -> dict[str, Any]:
    """Return whether the level is an estimate or a guarantee, and what that means."""
    kind = model.calibration_.kind
    source, sentence = _WORTH[kind]
    return {"guarantee": kind == "conformal", "source": source, "sentence": sentence}


def sides(counts: Counts) -> dict[str, float]:
    """Return the shares of rows whose true value lies below, and above their interval."""
    n, (below, above, *_) = float(counts.scores.n), counts.beside.sums[0].tolist()
    return {"below": below / n, "above": above / n}


def impossible(plan: Plan, counts: Counts) -> dict[str, Any] | None:
    """Return how many intervals reach beyond what can be; None where no limit is known."""
    ends = [end if abs(end) < float("inf") else None for end in plan.limits]
    if ends == [None, None]:
        return None
    return {"n": round(float(counts.beside.sums[0, 2])), "low": ends[0], "high": ends[1]}


def constant_guess(plan: Plan, counts: Counts) -> dict[str, Any]:
    """Compare with one interval for all rows, between quantiles of their true values.

    The score of an interval is its width, and for what it misses 2 / (1 - level) times the
    distance besides; the smaller the better.
    """
    n, (low, high) = float(counts.scores.n), plan.constant
    _, _, _, inside, outside = counts.beside.sums[0].tolist()
    own = counts.scores.summary().levels[plan.at]
    width, score = high - low, high - low + 2 / (1 - plan.level) * outside / n
    return {
        "low": low,
        "high": high,
        "held": inside / n,
        "width": width,
        "score": score,
        "own_width": float(own.mean_width),
        "own_score": float(own.interval_score),
        "width_ratio": float(own.mean_width) / width if width else None,
        "score_ratio": float(own.interval_score) / score if score else None,
    }
