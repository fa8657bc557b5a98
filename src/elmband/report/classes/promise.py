"""What a model that abstains was asked for, and what it does on these rows."""

from typing import Any

from elmband.report.classes.counts import Counts, Plan
from elmband.report.classes.predictions import abstains
from elmband.report.shares import Share, Verdict

_WISHES = ("coverage", "max_error", "max_fpr", "min_precision")


def promise(plan: Plan, counts: Counts) -> dict[str, Any] | None:
    """Return the statement of the model and what was measured; None where all rows are answered."""
    if not plan.abstains:
        return None
    table = counts.by_class(len(plan.labels))
    n, answered = float(table.sum()), float(table[:, :, 1].sum())
    wrong = answered - float(table[:, :, 1].trace())
    share, error = Share.of(answered, n), Share.of(wrong, answered)
    found = {
        "statement": plan.model.statement_.split("\n"),
        "answered": share.share,
        "answered_low": share.low,
        "answered_high": share.high,
        "n_answered": round(answered),
        "error": error.share,
        **error.margin,
        "n_wrong": round(wrong),
        **_asked(plan),
    }
    p, false, called = plan.positive, None, None
    if p is not None:
        # Rows wrongly answered as positive, of all that are not, and of all that are answered so.
        wrongly = float(table[:, p, 1].sum() - table[p, p, 1])
        false = Share.of(wrongly, float(table.sum() - table[p].sum()))
        called = Share.of(wrongly, float(table[:, p, 1].sum()))
    found["fpr"] = None if false is None else false.share
    found["precision"] = None if called is None else 1 - called.share
    found["verdict"] = _verdict(found, error, false, called)
    return found


def worth(model: Any) -> dict[str, Any]:
    """Return whether shares of wrong answers are an estimate or a guarantee, and what it means."""
    sentences = model.statement_.split("\n") if abstains(model) else []
    if any("Promised with" in line for line in sentences):
        return {
            "guarantee": True,
            "sentence": "What it was asked for is a guarantee: thresholds come from rows held out "
            "from training, and hold for new rows of the same kind.",
        }
    return {
        "guarantee": False,
        "sentence": "Its probabilities are estimates from training rows left out one by one; there "
        "is no guarantee.",
    }


def _asked(plan: Plan) -> dict[str, Any]:
    """Return the wish and its number."""
    for wish in _WISHES:
        value = getattr(plan.model, wish)
        if value is not None:
            return {"wish": wish, "limit": float(value)}
    raise AssertionError("a model that abstains was asked for something")


def _verdict(found: Any, error: Share, false: Share | None, called: Share | None) -> Verdict | None:
    if found["wish"] == "coverage":
        return None
    if found["wish"] == "max_error":
        return error.below(found["limit"])
    if found["wish"] == "max_fpr" and false is not None:
        return false.below(found["limit"])
    return None if called is None else called.below(1 - found["limit"])
