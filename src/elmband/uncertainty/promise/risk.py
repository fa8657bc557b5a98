"""Risks of a classifier that abstains: each a ratio with its own denominator."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from elmband.ground.arrays import Array
from elmband.uncertainty.promise.threshold import Bools, Floats, Ints, Meaning


@dataclass(frozen=True, eq=False)
class Risk:
    """Bad rows that are answered, divided by rows that are counted.

    Attributes
    ----------
    meaning : Meaning
        The ratio in words.
    bad : (n,) bool
        Rows of the numerator, if answered. All of them are counted.
    counted : (n,) bool
        Rows of the denominator.
    answered_only : bool
        Whether rows have to be answered to be counted.
    """

    meaning: Meaning
    bad: Bools
    counted: Bools
    answered_only: bool

    def part(self, rows: Bools) -> Self:
        """Return the risk of some of the rows."""
        return replace(self, bad=self.bad[rows], counted=self.counted[rows])

    @classmethod
    def error(cls, wrong: Array) -> Self:
        """Return the share of the answered rows that are wrong."""
        bad = checked_mask(wrong, "wrong")
        meaning = Meaning("error", "the answered rows", "are wrong")
        return cls(meaning, bad, np.ones_like(bad), answered_only=True)

    @classmethod
    def fpr(cls, is_positive: Array, called_positive: Array, positive: str = "positive") -> Self:
        """Return the share of the rows truly not positive, answered or not, answered as such."""
        truly, called = _masks(is_positive, called_positive)
        of = f"the rows that are truly not {positive}, answered or not,"
        meaning = Meaning("fpr", of, f"are answered as {positive}")
        return cls(meaning, called & ~truly, ~truly, answered_only=False)

    @classmethod
    def fdr(cls, is_positive: Array, called_positive: Array, positive: str = "positive") -> Self:
        """Return the share of the rows answered as positive that are not: 1 - precision."""
        truly, called = _masks(is_positive, called_positive)
        meaning = Meaning("fdr", f"the rows answered as {positive}", f"are truly not {positive}")
        return cls(meaning, called & ~truly, called, answered_only=True)


def _masks(is_positive: Array, called_positive: Array) -> tuple[Bools, Bools]:
    truly, called = (
        checked_mask(is_positive, "is_positive"),
        checked_mask(called_positive, "called_positive"),
    )
    if len(truly) != len(called):
        raise ValueError(
            f"is_positive has {len(truly)} rows, called_positive has {len(called)}; give both for "
            "the same rows."
        )
    return truly, called


def checked_mask(values: Array, name: str) -> Bools:
    """Return one True or False for every row."""
    mask = np.asarray(values)
    if mask.ndim != 1 or mask.dtype != np.bool_:
        raise ValueError(
            f"{name} has shape {mask.shape} and dtype {mask.dtype}; give one True or False per row."
        )
    return mask


def checked_score(score: Array, n_rows: int | None = None) -> Floats:
    """Return scores as float64, one for each row and none of them nan."""
    checked = np.asarray(score, dtype=np.float64)
    if checked.ndim != 1 or (n_rows is not None and len(checked) != n_rows):
        expected = "" if n_rows is None else f", the risk has {n_rows} rows"
        raise ValueError(f"score has shape {checked.shape}{expected}; give one number per row.")
    missing = int(np.isnan(checked).sum())
    if missing:
        raise ValueError(f"score is nan in {missing} rows; leave these rows out.")
    return checked


def checked_limit(limit: float) -> float:
    """Return the largest risk allowed, between 0 and 1."""
    if not 0 < limit < 1:
        raise ValueError(
            f"limit={limit!r} cannot be kept to; give a share of bad rows more than 0 and less "
            "than 1, such as 0.05."
        )
    return float(limit)


def checked_weights(sample_weight: Array | None, n_rows: int) -> Floats:
    """Return one weight for every row, 1 where none are given."""
    if sample_weight is None:
        return np.ones(n_rows)
    s = np.asarray(sample_weight, dtype=np.float64)
    if s.shape != (n_rows,) or not np.all((s >= 0) & np.isfinite(s)):
        raise ValueError(
            f"sample_weight has shape {s.shape} for {n_rows} rows, or values that are negative or "
            "not finite; give one number of at least 0 per row."
        )
    return s


def effective(total: Any, squares: Any) -> Any:
    """Return how many rows of equal weight know as much: (Σs)² / Σs², 0 for none.

    A common factor of the weights changes nothing, and rows of weight 0 do not count.
    """
    return np.divide(total**2, squares, out=np.zeros_like(total), where=squares > 0)


def checked_groups(groups: Array, n_rows: int) -> np.ndarray[Any, Any]:
    """Return one label of a group for every row."""
    labels: np.ndarray[Any, Any] = np.asarray(groups)
    if labels.shape != (n_rows,):
        raise ValueError(
            f"groups has shape {labels.shape}, score has {n_rows} rows; give one group per row."
        )
    return labels


def group_codes(groups: Array, n_rows: int) -> tuple[Ints, int]:
    """Return the number of the group of every row, and how many groups there are."""
    names, codes = np.unique(checked_groups(groups, n_rows), return_inverse=True)
    return codes, len(names)
