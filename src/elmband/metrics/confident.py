"""True and false positives among the most confident rows."""

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from elmband.ground.arrays import Floats
from elmband.metrics.answered import ROUNDING, ClassSums, answered, class_sums, share
from elmband.metrics.checks import numbers, require

Of: TypeAlias = Literal["answered", "all"]


class ConfidentRates(NamedTuple):
    """Coverage, both rates and threshold of every answered part, each (k,), strictest first."""

    coverage: Floats
    tpr: Floats
    fpr: Floats
    threshold: Floats


def confident_rates(
    y_true: Any,
    y_pred: Any,
    confidence: Any,
    *,
    pos_label: Any = 1,
    of: Of = "answered",
    sample_weight: Any = None,
) -> ConfidentRates:
    """Rates of true and false positives in the most confident part of the rows.

    Rows with ``confidence >= threshold`` are answered, for each different confidence from the
    largest to the smallest. Of several classes, all but `pos_label` are negative.

    Parameters
    ----------
    pos_label : label, default=1
        The positive class.
    of : {"answered", "all"}, default="answered"
        Whether the rates are shares of the positive and negative rows that are answered, or of
        all positive and negative rows. The former begin anywhere and can fall. They flatter a
        part that holds almost no row of one class, see `true_positives_at_fpr`; the latter rise
        from 0 with every answer.

    Returns
    -------
    ConfidentRates
        A rate is NaN where there is no row to take a share of.

    Examples
    --------
    >>> y_true, y_pred, confidence = [1, 0, 1, 0], [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6]
    >>> rates = confident_rates(y_true, y_pred, confidence)
    >>> rates.tpr, rates.fpr
    (array([1. , 1. , 0.5, 0.5]), array([nan, 0. , 0. , 0.5]))
    >>> confident_rates(y_true, y_pred, confidence, of="all").tpr
    array([0.5, 0.5, 0.5, 0.5])
    """
    rows = answered(y_true, y_pred, confidence, sample_weight)
    return ConfidentRates(rows.coverage, *rates(class_sums(rows, pos_label), of), rows.threshold)


def coverage_without_false_positives(
    y_true: Any, y_pred: Any, confidence: Any, *, pos_label: Any = 1, sample_weight: Any = None
) -> float:
    """Largest share of rows that can be answered without a single false positive.

    Rows are answered from the most confident on. The share is 0 where a false positive is among
    the most confident rows, and 1 where there is none.

    Examples
    --------
    >>> coverage_without_false_positives([1, 0, 1, 0], [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6])
    0.75
    """
    rows = answered(y_true, y_pred, confidence, sample_weight)
    parts = np.count_nonzero(class_sums(rows, pos_label).false_positives == 0)
    return float(rows.coverage[parts - 1]) if parts else 0.0


def true_positives_at_fpr(
    y_true: Any,
    y_pred: Any,
    confidence: Any,
    max_fpr: float,
    *,
    pos_label: Any = 1,
    sample_weight: Any = None,
) -> float:
    """Share of all positive rows that are found while false positives stay few.

    The answered part is the largest one whose false positives are at most `max_fpr` of all
    negative rows; a positive row counts if it is answered, and rightly. Rates of the answered
    part alone look good where nearly all of it is of one class. This share does not: what is not
    answered is not found. It is NaN where no row is positive.

    Parameters
    ----------
    max_fpr : float
        Bound on the false positive rate, from 0 to 1.

    Examples
    --------
    >>> true_positives_at_fpr([1, 0, 1, 0, 1], [1, 0, 1, 1, 1], [5, 4, 3, 2, 1], max_fpr=0)
    0.666...
    """
    bound = numbers("max_fpr", max_fpr, ())
    require(0 <= bound <= 1, f"max_fpr is {max_fpr:g}, expected from 0 to 1: try 0.01")
    rows = answered(y_true, y_pred, confidence, sample_weight)
    sums = class_sums(rows, pos_label)
    fpr = np.nan_to_num(share(sums.false_positives, sums.negatives[-1:]))
    parts = np.searchsorted(fpr, bound * (1 + ROUNDING), side="right")
    found = sums.true_positives[parts - 1 : parts] if parts else np.zeros(1)
    return float(share(found, sums.positives[-1:])[0])


def rates(sums: ClassSums, of: Of) -> tuple[Floats, Floats]:
    """Return the true and the false positive rate at each threshold."""
    part = slice(None) if check_of(of) == "answered" else slice(-1, None)
    return (
        share(sums.true_positives, sums.positives[part]),
        share(sums.false_positives, sums.negatives[part]),
    )


def check_of(of: Of) -> Of:
    """Return `of`, or say in a sentence what it can be."""
    require(of in ("answered", "all"), f"of is {of!r}, expected 'answered' or 'all'")
    return of
