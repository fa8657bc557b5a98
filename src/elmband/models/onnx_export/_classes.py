"""Labels and probabilities from decisions."""

import numpy as np

from elmband.models.onnx_export._functions import log1p, positive
from elmband.models.onnx_export._graph import DOUBLE, Tensor, joined, where
from elmband.uncertainty.classes import Classes
from elmband.uncertainty.probability import _EXPONENTIAL, Probability


def labels(decision: Tensor, classes: Classes) -> Tensor:
    """Return the labels of decisions (n, m): (n,), or columns of 0 and 1."""
    called = (decision > 0.0).to(np.int64)
    if classes.multilabel:
        return called
    places = called.flat() if classes.single_output else _largest(decision)
    return label_table(decision, classes).apply("Gather", places, axis=0)


def label_table(like: Tensor, classes: Classes) -> Tensor:
    """Return the classes in their order: whole numbers, truth values, floats or text."""
    dtype = {"i": np.int64, "u": np.int64, "b": np.bool_, "f": np.float64}
    return like.graph.constant(
        classes.labels, np.dtype(dtype.get(classes.labels.dtype.kind, object))
    )


def _largest(decision: Tensor) -> Tensor:
    return decision.apply("ArgMax", dtype=np.dtype(np.int64), axis=1, keepdims=0)


def probabilities(
    decision: Tensor, classes: Classes, calibrated: tuple[Probability, ...]
) -> Tensor:
    """Return the probability of every class, (n, number of classes)."""
    decision, dtype = decision.to(DOUBLE), decision.dtype
    if classes.single_output:
        shares = _probability(_two_sided(decision), calibrated[0], 2)
    elif classes.multilabel:
        columns = zip(decision.split(len(calibrated)), calibrated, strict=True)
        both = [_probability(_two_sided(column), each, 2) for column, each in columns]
        shares = joined([pair.columns(1, 2) for pair in both])
    else:
        shares = _probability(decision, calibrated[0], len(classes.labels))
    return shares.to(dtype)


def _two_sided(decision: Tensor) -> Tensor:
    return joined([-decision, decision])


def _probability(decisions: Tensor, calibrated: Probability, count: int) -> Tensor:
    """Return h(a·d + b) with h(t) = log(1 + exp(t)), divided by its sum over each row."""
    slope, shift, least = calibrated
    t = decisions * slope + shift
    small = t < _EXPONENTIAL
    h = positive(t) + log1p((-t.apply("Abs")).apply("Exp"))
    log = where(small, t, where(small, 1.0, h).apply("Log"))
    share = (log - log.reduced("ReduceMax")).apply("Exp")
    return share / share.reduced("ReduceSum") * (1 - count * least) + least
