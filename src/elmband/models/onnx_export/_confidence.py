"""How certain a classifier is of a row, and whether that is enough."""

from typing import NamedTuple

import numpy as np

from elmband.ground.arrays import to_numpy
from elmband.models.fitted import Fitted
from elmband.models.onnx_export._functions import logistic, positive
from elmband.models.onnx_export._graph import BOOL, DOUBLE, WHOLE, Tensor, joined, where
from elmband.models.onnx_export._noise import Variances, noise_and_model
from elmband.uncertainty.confidence import (
    _DEVIATION,
    _LEAST_NOISE,
    _PENALTY,
    _TINY,
    Confidence,
    Judge,
)

# Numbers that a judge looks at.
_BASIC = 4


class Answer(NamedTuple):
    """The place of the class of rows, and how clear it is, each (n, 1)."""

    place: Tensor
    margin: Tensor
    variances: Variances
    side: Tensor


def answer_of(X: Tensor, mean: Tensor, fitted: Fitted) -> Answer:
    """Return what is said of rows whose standardised mean is known."""
    assert fitted.deciding is not None
    targets = fitted.targets.scaling
    scale, centre = (to_numpy(a).astype(DOUBLE) for a in (targets.scale, targets.mean))
    decision = mean.to(DOUBLE) * scale + centre
    if fitted.deciding.confidence.rule == "margin":
        # The rule does not look at variances.
        variances = Variances(*[decision * 0.0] * 2)
    else:
        parts = noise_and_model(X, mean, fitted)
        variances = Variances(*(part * scale**2 for part in parts))
    if len(scale) == 1:
        return two_classes(decision, variances)
    return many_classes(decision, variances, len(scale))


def two_classes(decision: Tensor, variances: Variances) -> Answer:
    """Read decisions (n, 1) and the parts of their variances."""
    place = (decision > 0.0).to(WHOLE)
    return Answer(place, decision.apply("Abs"), variances, place.to(DOUBLE) * 2.0 - 1.0)


def many_classes(decision: Tensor, variances: Variances, count: int) -> Answer:
    """Read decisions (n, count); margins are leads over the next class."""
    best = decision.apply("ArgMax", dtype=WHOLE, axis=1, keepdims=1)
    itself = best.apply("Equal", np.arange(count)[None, :], dtype=BOOL)
    others = where(itself, -np.inf, decision)
    # Of equal decisions the last class is the next one, as in `elmband.uncertainty.confidence`.
    following = others.apply("ArgMax", dtype=WHOLE, axis=1, keepdims=1, select_last_index=1)
    pair = joined([best, following])
    first, second = decision.apply("GatherElements", pair, axis=1).split(2)
    sums = [v.apply("GatherElements", pair, axis=1).reduced("ReduceSum") for v in variances]
    return Answer(best, first - second, Variances(*sums), best.to(DOUBLE) * 0.0)


def confidence_of(answer: Answer, confidence: Confidence) -> Tensor:
    """Return how certain rows are, (n, 1)."""
    noise, model = answer.variances
    if confidence.rule == "margin":
        return answer.margin
    if confidence.rule == "model":
        return answer.margin / model.apply("Max", _TINY).apply("Sqrt")
    if confidence.judge is not None and confidence.rule == "probability":
        return _judged(answer, confidence.judge)
    ratio = answer.margin / (noise + model).apply("Max", _TINY).apply("Sqrt")
    if confidence.rule == "interval":
        return ratio
    return ratio * ratio / (ratio * ratio + 1.0)


def _judged(answer: Answer, judge: Judge) -> Tensor:
    """Return the probability that the label is right."""
    noise, model = answer.variances
    deviation = model.apply("Max", _TINY).apply("Log") * 0.5
    loud = (noise + _LEAST_NOISE).apply("Log")
    basic = joined([answer.margin, loud, deviation, answer.side])
    within = basic.apply("Max", judge.low[None, :]).apply("Min", judge.high[None, :])
    left, right = (within.whole(*indices) for indices in np.triu_indices(_BASIC))
    products = within.apply("Gather", left, axis=1) * within.apply("Gather", right, axis=1)
    features = (joined([within, products]) - judge.centre) / judge.scale
    logit = features @ judge.coef[:, None] + judge.intercept
    beyond = positive(basic.columns(_DEVIATION, _DEVIATION + 1) - judge.high[_DEVIATION])
    return logistic(logit - beyond * _PENALTY)


def accepted(confidence: Tensor, place: Tensor, least: list[float]) -> Tensor:
    """Return which rows are certain enough for their class, (n, 1)."""
    needed = confidence.beside(least).apply("Gather", place, axis=0)
    return confidence.apply("GreaterOrEqual", needed, dtype=BOOL)
