"""Thresholds estimated from rows, such as training rows left out in closed form."""

import math
from dataclasses import replace

import numpy as np

from elmband.ground.arrays import Array
from elmband.uncertainty.promise.risk import (
    Risk,
    checked_limit,
    checked_score,
    checked_weights,
    effective,
    group_codes,
)
from elmband.uncertainty.promise.threshold import COVERAGE, Bools, Floats, Ints, Threshold

# Ratios and limits such as 1 - 0.93 differ by rounding from what they are meant to be.
ROUNDING = 1e-12


def estimate(
    risk: Risk,
    score: Array,
    *,
    limit: float,
    sample_weight: Array | None = None,
    groups: Array | None = None,
) -> Threshold:
    """Return the loosest threshold at which the observed risk is at most `limit`.

    It was chosen among all scores by the risk it has on these rows, and is therefore somewhat
    optimistic. Where all rows may be answered it is minus infinite, where none may be, infinite.

    Parameters
    ----------
    risk : Risk
        The risk of the rows.
    score : (n,) array
        Their scores, larger for more certain rows.
    limit : float
        The largest risk allowed, more than 0 and less than 1.
    sample_weight : (n,) array, optional
        A row of weight s counts as s rows in every share. A common factor changes nothing.
    groups : (n,) array, optional
        Groups of rows: the risk is then the mean over groups of the share within a group.
    """
    values = checked_score(score, len(risk.bad))
    s = checked_weights(sample_weight, len(values))
    limit = checked_limit(limit)
    order = np.argsort(-values, kind="stable")
    order = order[s[order] > 0]
    falling, s = values[order], s[order]
    bad, counted = s * risk.bad[order], s * risk.counted[order]
    if groups is not None:
        codes, _ = group_codes(groups, len(values))
        total, n = _group_sums(codes[order], bad, counted, answered_only=risk.answered_only)
    else:
        total, n = _answered_sums(bad, counted, answered_only=risk.answered_only)
    known = n if groups is not None else _known(s * counted, n, answered_only=risk.answered_only)
    fine = _last_of_ties(falling) & (n > 0) & (total <= (limit + ROUNDING) * n)
    last = int(np.flatnonzero(fine)[-1]) if fine.any() else -1
    answered = np.cumsum(s)
    return Threshold(
        _value(falling, last),
        "estimate",
        replace(risk.meaning, grouped=groups is not None),
        limit,
        n=float(known[last]) if last >= 0 else 0.0,
        observed=float(total[last] / n[last]) if last >= 0 else math.nan,
        answered=float(answered[last] / answered[-1]) if last >= 0 else 0.0,
    )


def coverage_threshold(
    score: Array, coverage: float, *, sample_weight: Array | None = None
) -> Threshold:
    """Return the strictest threshold that answers at least this share of the rows.

    Rows of equal scores are answered together. A share of 1 answers every row, also those with
    scores below all of these.
    """
    values = checked_score(score)
    if not 0 < coverage <= 1:
        raise ValueError(
            f"coverage={coverage!r} is no share of rows to answer; give a number more than 0 and "
            "at most 1."
        )
    s = checked_weights(sample_weight, len(values))
    if not s.sum() > 0:
        raise ValueError("There are no rows to tell the threshold from; give one at least.")
    order = np.argsort(-values, kind="stable")
    falling, answered = values[order], np.cumsum(s[order])
    enough = _last_of_ties(falling) & (answered >= coverage * answered[-1] * (1 - ROUNDING))
    first = int(np.argmax(enough))
    value = -math.inf if coverage == 1 else float(falling[first])
    share = 1.0 if coverage == 1 else float(answered[first] / answered[-1])
    n = float(effective(s.sum(), np.sum(s**2)))
    return Threshold(value, "estimate", COVERAGE, coverage, n, share, share)


def _last_of_ties(falling: Floats) -> Bools:
    """Return which rows have the next score below their own: ties are answered together."""
    last = np.ones(len(falling), dtype=np.bool_)
    last[:-1] = falling[1:] < falling[:-1]
    return last


def _value(falling: Floats, last: int) -> float:
    if last < 0:
        return math.inf
    return -math.inf if last == len(falling) - 1 else float(falling[last])


def _answered_sums(bad: Floats, counted: Floats, *, answered_only: bool) -> tuple[Floats, Floats]:
    """Return bad rows and counted rows if rows are answered up to each."""
    n = np.cumsum(counted) if answered_only else np.full(len(counted), counted.sum())
    return np.cumsum(bad), n


def _known(squares: Floats, total: Floats, *, answered_only: bool) -> Floats:
    """Return the effective number of counted rows if rows are answered up to each."""
    sums = np.cumsum(squares) if answered_only else np.full(len(squares), squares.sum())
    return effective(total, sums)  # type: ignore[no-any-return]


def _group_sums(
    codes: Ints, bad: Floats, counted: Floats, *, answered_only: bool
) -> tuple[Floats, Floats]:
    """Return the sum of the rates of groups and their number if rows are answered up to each.

    A row changes the rate of its own group alone, so that the sums are those of the changes.
    """
    order = np.argsort(codes, kind="stable")
    first = np.ones(len(codes), dtype=np.bool_)
    first[1:] = np.diff(codes[order]) > 0
    group = np.cumsum(first) - 1
    bad_so_far = _sums_within(bad[order], first, group)
    if answered_only:
        n = _sums_within(counted[order], first, group)
    else:
        n = np.bincount(group, counted[order])[group]
    rate = np.divide(bad_so_far, n, out=np.zeros(len(n)), where=n > 0)
    total = np.empty(len(n))
    total[order] = _changes(rate, first)
    there = np.empty(len(n))
    there[order] = _changes((n > 0).astype(np.float64), first)
    if not answered_only:
        return np.cumsum(total), np.full(len(n), there.sum())
    return np.cumsum(total), np.cumsum(there)


def _sums_within(x: Floats, first: Bools, group: Ints) -> Floats:
    """Return sums of x from the first row of its group to each."""
    sums = np.cumsum(np.insert(x, 0, 0.0))
    before: Floats = sums[:-1][first]
    return sums[1:] - before[group]


def _changes(x: Floats, first: Bools) -> Floats:
    """Return differences to the row before in the same group, to 0 at the first one."""
    before = np.where(first, 0.0, np.roll(x, 1))
    return x - before
