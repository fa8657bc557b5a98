"""Sums over the most confident rows, for every threshold at which a classifier may answer."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elmband.ground.arrays import Floats, to_numpy
from elmband.metrics.checks import require, rows

# Rounding of sums of weights, and of shares such as 0.1 + 0.2, at most: it must not cost a row.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Answered:
    """Rows in the order in which they are answered: the most confident first, ties together.

    Attributes
    ----------
    y_true, y_pred : array of shape (n,)
        Labels, in the order given.
    order : array of shape (r,)
        Rows with a weight above zero, from the most to the least confident.
    weight : array of shape (r,)
        Their weights, in this order.
    threshold : array of shape (k,)
        Their different confidences, falling.
    last : array of shape (k,)
        Where in `order` the last row of each confidence stands.
    """

    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    order: NDArray[np.intp]
    weight: Floats
    threshold: Floats
    last: NDArray[np.intp]

    @cached_property
    def total(self) -> Floats:
        """Weight of the answered rows at each threshold."""
        return np.cumsum(self.weight)[self.last]

    @property
    def coverage(self) -> Floats:
        """Share of the rows that are answered at each threshold; the last one is 1."""
        return np.asarray(self.total / self.total[-1])

    @cached_property
    def wrong(self) -> Floats:
        """Weight of the answered rows whose prediction is not their label."""
        return self.sums(self.y_true != self.y_pred)

    def sums(self, chosen: NDArray[np.bool_]) -> Floats:
        """Return the weight of the answered rows among the chosen ones, at each threshold.

        Sums that agree in exact arithmetic agree to the last bit, since zeros change nothing:
        where all answered rows are wrong, their share is 1.
        """
        return np.cumsum(self.weight * chosen[self.order])[self.last]


class ClassSums(NamedTuple):
    """Weights of the answered rows of each kind, at each of k thresholds."""

    positives: Floats
    negatives: Floats
    true_positives: Floats
    false_positives: Floats


def answered(y_true: Any, y_pred: Any, confidence: Any, sample_weight: Any) -> Answered:
    """Check the rows, and sort those with a weight above zero by falling confidence."""
    true, pred = _labels(y_true, y_pred)
    weight = None if sample_weight is None else to_numpy(sample_weight)
    # Numbers of rows in the place of targets come back without those of weight zero.
    kept = rows(np.arange(len(true)), weight, (), confidence=to_numpy(confidence))
    used, row, level = (array.ravel() for array in kept)
    # A stable sort, so that weights within ties are added up alike on every machine.
    order = np.argsort(-level, kind="stable")
    level = level[order]
    last = np.flatnonzero(np.append(level[1:] != level[:-1], True))
    return Answered(true, pred, row.astype(np.intp)[order], used[order], level[last], last)


def class_sums(answers: Answered, pos_label: Any) -> ClassSums:
    """Tell the answered rows of the class `pos_label` from all others."""
    kind, expected = _kind(np.asarray([pos_label])), _kind(answers.y_true)
    require(kind == expected, f"pos_label is {pos_label!r}, but labels are {expected}: name one")
    true, pred = answers.y_true == pos_label, answers.y_pred == pos_label
    if not (true | pred)[answers.order].any():
        _require_one_label(answers, pos_label)
    return ClassSums(*(answers.sums(chosen) for chosen in (true, ~true, true & pred, ~true & pred)))


def _require_one_label(answers: Answered, pos_label: Any) -> None:
    """Refuse a label that no row has, unless all rows are of one class: it may be the other."""
    true, pred = answers.y_true[answers.order], answers.y_pred[answers.order]
    alone = (true == true[0]).all() and (pred == true[0]).all()
    label = true[:1].tolist()[0]
    where = "which neither y_true nor y_pred holds"
    require(alone, f"pos_label is {pos_label!r}, {where}: take one of their labels, like {label!r}")


def share(part: Floats, whole: Floats) -> Floats:
    """Return part / whole, and NaN where there is no whole."""
    nothing = np.full(part.shape, np.nan)
    return np.asarray(np.divide(part, whole, out=nothing, where=whole > 0))


def first_reaching(coverage: Floats, shares: Any) -> NDArray[np.intp]:
    """Return the position of the strictest threshold that answers each of these shares of rows."""
    wanted = np.asarray(shares, dtype=np.float64) * (1 - ROUNDING)
    return np.searchsorted(coverage, wanted, side="left")


def _labels(y_true: Any, y_pred: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    true, pred = np.asarray(to_numpy(y_true)), np.asarray(to_numpy(y_pred))
    fits = true.ndim == 1 and true.size
    require(fits, f"y_true has shape {true.shape}, expected (n,) with at least one row")
    fits = pred.shape == true.shape
    require(fits, f"y_pred has shape {pred.shape}, expected {true.shape}: reshape or realign it")
    for name, labels in (("y_true", true), ("y_pred", pred)):
        require(not _missing(labels), f"{name} holds missing labels: drop or fill them first")
    kinds = _kind(true), _kind(pred)
    same = kinds[0] == kinds[1]
    require(same, f"y_true holds {kinds[0]}, y_pred {kinds[1]}: convert one to the other's labels")
    return true, pred


def _missing(labels: NDArray[Any]) -> bool:
    try:
        unequal = np.not_equal(labels, labels).any()  # NaN is not equal to itself
    except TypeError:  # pd.NA is neither equal nor unequal
        return True
    return bool(unequal or (labels.dtype.kind == "O" and any(label is None for label in labels)))


def _kind(labels: NDArray[Any]) -> str:
    """Say what labels are: numbers are never equal to text, so that all rows would be wrong."""
    if labels.dtype.kind == "O":
        kinds = {str: "text", bytes: "bytes"}
        return next((kinds[t] for t in kinds if isinstance(labels[0], t)), "numbers")
    return {"U": "text", "T": "text", "S": "bytes"}.get(labels.dtype.kind, "numbers")
