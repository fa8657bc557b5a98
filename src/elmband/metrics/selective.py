"""How well a classifier knows which of its answers are right: errors of its most confident part.

A classifier that may abstain answers the rows whose confidence reaches a threshold. Rows of equal
confidence are answered together or not at all, so there is one answered part for each different
confidence, from the strictest threshold to the one that answers every row.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import digamma, xlog1py

from elmband.ground.arrays import Floats
from elmband.metrics.answered import Answered, answered, class_sums, first_reaching
from elmband.metrics.checks import numbers, require
from elmband.metrics.confident import Of, rates

COVERAGES = (0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1.0)


class RiskCoverageCurve(NamedTuple):
    """Coverage, risk and threshold of every answered part, each (k,), strictest first."""

    coverage: Floats
    risk: Floats
    threshold: Floats

    @property
    def area(self) -> float:
        """The area under the curve, as in `aurc`."""
        # Summed by parts: where the risk is the same everywhere, so is its mean, to the last bit.
        return float(self.risk[-1] - self.coverage[:-1] @ np.diff(self.risk))


def risk_coverage_curve(
    y_true: Any, y_pred: Any, confidence: Any, *, sample_weight: Any = None
) -> RiskCoverageCurve:
    """Share of wrong answers against the share of rows that are answered.

    For each different confidence, from the largest to the smallest, rows with ``confidence >=
    threshold`` are answered: `coverage` is their share, `risk` the share of them that is wrong.
    The last point answers all rows, and its risk is the error of the classifier.

    Examples
    --------
    >>> curve = risk_coverage_curve([1, 0, 1, 0], [1, 0, 0, 1], [0.9, 0.8, 0.8, 0.6])
    >>> curve.coverage
    array([0.25, 0.75, 1.  ])
    >>> curve.risk.round(3)
    array([0.   , 0.333, 0.5  ])
    >>> curve.threshold
    array([0.9, 0.8, 0.6])
    """
    return _curve(answered(y_true, y_pred, confidence, sample_weight))


def aurc(y_true: Any, y_pred: Any, confidence: Any, *, sample_weight: Any = None) -> float:
    """Area under the risk-coverage curve, from 0 to 1, lower is better.

    It is the mean over all rows of the risk of the part with which the row is first answered. For
    n rows without ties this is the mean risk of the 1, 2, ..., n most confident ones, the AURC of
    Geifman, Uziel and El-Yaniv (2019). It falls with a better order and with fewer errors alike;
    `e_aurc` judges the order alone. A confidence that says nothing has the error of the
    classifier as its area.

    Examples
    --------
    >>> aurc([1, 0, 1, 0], [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6])
    0.208...
    >>> aurc([1, 0, 1, 0], [1, 0, 0, 1], [0.5, 0.5, 0.5, 0.5])
    0.5
    """
    return _curve(answered(y_true, y_pred, confidence, sample_weight)).area


def e_aurc(y_true: Any, y_pred: Any, confidence: Any, *, sample_weight: Any = None) -> float:
    """Excess of `aurc` over the best that the same answers allow, at least 0, lower is better.

    The best order answers all right rows before the first wrong one. With R right and m wrong
    rows its area is ``sum(j / (R + j) for j in 1, ..., m) / (R + m)``, the E-AURC of Geifman,
    Uziel and El-Yaniv (2019). Whole weights count rows here too. Other weights are shares, of
    which any part might be answered alone: with a share of r wrong, the area then tends to
    ``r + (1 - r) * log(1 - r)`` from above.

    Examples
    --------
    >>> e_aurc([1, 0, 1, 0], [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6])
    0.0
    >>> e_aurc([1, 0, 1, 0], [1, 0, 0, 1], [0.6, 0.7, 0.8, 0.9])
    0.583...
    """
    rows = answered(y_true, y_pred, confidence, sample_weight)
    # Rounding may leave the best order a little below its own area.
    return max(_curve(rows).area - _best_area(rows), 0.0)


class SelectiveRow(NamedTuple):
    """One line of `selective_summary`: what the most confident part of the rows is worth.

    Attributes
    ----------
    asked : float
        The coverage that was asked for.
    coverage : float
        The share of rows that is answered, larger where ties or few rows ask for it.
    threshold : float
        Rows with this confidence or more are answered.
    answered : float
        Their number, each counted as often as its weight says.
    accuracy, risk : float
        Shares of right and of wrong among them.
    false_positives : float
        Number of rows among them that are wrongly said to be positive.
    tpr, fpr : float
        True and false positive rate, as in `confident_rates`.
    """

    asked: float
    coverage: float
    threshold: float
    answered: float
    accuracy: float
    risk: float
    false_positives: float
    tpr: float
    fpr: float


def selective_summary(
    y_true: Any,
    y_pred: Any,
    confidence: Any,
    *,
    coverages: Sequence[float] = COVERAGES,
    pos_label: Any = 1,
    of: Of = "answered",
    sample_weight: Any = None,
) -> list[SelectiveRow]:
    """Accuracy and false positives of the most confident part, for a few coverages.

    For coverage c of n rows the ``ceil(c * n)`` most confident rows are answered, and all that
    tie with the last of them. ``pandas.DataFrame(rows)`` makes a table of the result.

    Parameters
    ----------
    coverages : sequence of float, default=(0.01, 0.03, 0.05, 0.1, 0.3, 0.5, 1)
        Shares of rows to answer.
    pos_label : label or None, default=1
        The positive class. None, for several classes of equal rank, leaves false positives and
        both rates NaN.
    of : {"answered", "all"}, default="answered"
        Denominators of the rates, as in `confident_rates`.

    Returns
    -------
    list of SelectiveRow
        One for each coverage, in their order.

    Examples
    --------
    >>> rows = selective_summary([1, 0, 1, 0], [1, 0, 0, 1], [4, 3, 2, 1], coverages=[0.5, 1])
    >>> [(row.coverage, row.accuracy, row.false_positives) for row in rows]
    [(0.5, 1.0, 0.0), (1.0, 0.5, 1.0)]
    """
    wanted = check_coverages(coverages)
    rows = answered(y_true, y_pred, confidence, sample_weight)
    curve, nothing = _curve(rows), np.full(len(rows.last), np.nan)
    false, tpr, fpr = nothing, nothing, nothing
    if pos_label is not None:
        sums = class_sums(rows, pos_label)
        false, (tpr, fpr) = sums.false_positives, rates(sums, of)
    accuracy = (rows.total - rows.wrong) / rows.total
    columns = (curve.coverage, curve.threshold, rows.total, accuracy, curve.risk, false, tpr, fpr)
    at = first_reaching(curve.coverage, wanted)
    table = np.column_stack([wanted, *(column[at] for column in columns)])
    return [SelectiveRow(*line) for line in table.tolist()]


def check_coverages(coverages: Any) -> Floats:
    """Return the shares of rows to answer, or say in a sentence what is wrong with them."""
    wanted = numbers("coverages", coverages)
    fits = wanted.ndim == 1 and wanted.size
    require(fits, f"coverages has shape {wanted.shape}, expected a list of shares such as [0.1, 1]")
    wrong = wanted[(wanted <= 0) | (wanted > 1)]
    if wrong.size:
        hint = f"did you mean {wrong[0] / 100:g}?" if 1 < wrong[0] <= 100 else "try 0.1"
        raise ValueError(f"coverages holds {wrong[0]:g}, expected above 0 and up to 1: {hint}")
    return wanted


def _curve(rows: Answered) -> RiskCoverageCurve:
    return RiskCoverageCurve(rows.coverage, rows.wrong / rows.total, rows.threshold)


def _best_area(rows: Answered) -> float:
    n, wrong = float(rows.total[-1]), float(rows.wrong[-1])
    if (rows.weight == np.round(rows.weight)).all():
        # The sum of 1 / (R + j) is a difference of digammas, however many rows there are.
        right = n - wrong
        return float(wrong - right * (digamma(n + 1) - digamma(right + 1))) / n
    r = wrong / n
    return float(r + xlog1py(1 - r, -r))
