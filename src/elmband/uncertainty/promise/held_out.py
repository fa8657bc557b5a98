"""Held-out rows as evidence at every threshold of a grid."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from elmband.ground.arrays import Array
from elmband.uncertainty.promise.bounds import (
    BettingEvidence,
    BinomialEvidence,
    Evidence,
    groups_needed,
    rows_needed,
)
from elmband.uncertainty.promise.grid import Grid
from elmband.uncertainty.promise.pilot import (
    Expected,
    expected_of_pilots,
    pilot_groups,
    shares_without,
)
from elmband.uncertainty.promise.risk import Risk, effective, group_codes
from elmband.uncertainty.promise.starts import PILOTED, most_telling
from elmband.uncertainty.promise.threshold import Bools, Floats, Ints


class Hypotheses(NamedTuple):
    """What is to be tested: the risk at the thresholds of a grid, by `limit` at level delta."""

    risk: Risk
    grid: Grid
    limit: float
    delta: float


class HeldOut(NamedTuple):
    """What can be said at every threshold, from the strictest on.

    `available` is the number of rows or groups that could be counted if all rows were answered,
    `needed` the least number that can be promised on, and `start` is where tests begin.
    """

    evidence: Iterable[Evidence]
    available: float
    needed: int
    start: int


def held_out(test: Hypotheses, score: Floats, s: Floats, groups: Array | None) -> HeldOut:
    """Prepare tests on rows with weights s, or on groups where these are given."""
    # The strictest threshold that answers a row, past the last one if there is none.
    place = np.searchsorted(-test.grid.thresholds, -score)
    if groups is not None:
        codes, _ = group_codes(groups, len(score))
        found = _of_groups(test, place, codes, s)
    elif np.all(s == s[:1]):
        found = _of_rows(test, place)
    else:
        found = _of_weighted_rows(test, place, s / s.max())
    # A denominator that does not depend on the threshold is there from the strictest one on.
    return found if test.risk.answered_only else found._replace(start=0)


def _of_rows(test: Hypotheses, place: Ints) -> HeldOut:
    """Count bad rows and rows at every threshold."""
    risk, size = test.risk, len(test.grid.thresholds)
    bad, available = _reached(place[risk.bad], size), int(risk.counted.sum())
    counted = np.full(size, available)
    if risk.answered_only:
        counted = _reached(place[risk.counted], size)
    evidence = map(BinomialEvidence, bad.tolist(), counted.tolist())
    needed = rows_needed(test.limit, test.delta)
    return HeldOut(evidence, available, needed, _start_of_rows(test, available))


def _reached(place: Ints, size: int) -> Ints:
    return np.cumsum(np.bincount(place, minlength=size + 1))[:size]


def _of_weighted_rows(test: Hypotheses, place: Ints, q: Floats) -> HeldOut:
    """Bet on rows of different weights."""
    risk, limit, delta = test.risk, test.limit, test.delta

    def evidence() -> Iterator[Evidence]:
        for k in range(len(test.grid.thresholds)):
            counted = risk.counted & (place <= k) if risk.answered_only else risk.counted
            bad = (risk.bad & (place <= k))[counted].astype(np.float64)
            yield BettingEvidence.of_weighted(bad, q[counted], limit, delta)

    mine = q[risk.counted]
    available = float(effective(mine.sum(), np.sum(mine**2)))
    needed = groups_needed(limit, delta)
    return HeldOut(evidence(), available, needed, _start_of_rows(test, available))


def _start_of_rows(test: Hypotheses, available: float) -> int:
    """Begin as training rows tell: rows held out are like them."""
    grid = test.grid
    return most_telling(available * grid.shares, grid.risks(test.limit), test.limit)


def _of_groups(test: Hypotheses, place: Ints, codes: Ints, s: Floats) -> HeldOut:
    """Bet on groups, but for pilot groups, which tell where to begin.

    Training rows do not tell how risks differ from group to group: a few bad groups may spoil
    the strictest thresholds, or all of the looser ones. Other groups do.
    """
    risk, limit, delta, grid = test.risk, test.limit, test.delta, test.grid
    size = len(grid.thresholds)
    present = np.unique(codes[risk.counted])
    needed, pilots = groups_needed(limit, delta), present[:0]
    expected = Expected(shares_without(grid.shares), grid.risks(limit))

    def rates(rows: Bools) -> Iterator[Floats]:
        return _group_rates(risk.part(rows), place[rows], codes[rows], s[rows], size)

    if risk.answered_only and len(present) >= PILOTED * needed:
        pilots = pilot_groups(present)
        told = rates(np.isin(codes, pilots))
        expected = expected_of_pilots(told, len(pilots), expected.risks)
    n_tested = len(present) - len(pilots)
    start = most_telling(n_tested * expected.shares, expected.risks, limit)
    tested = rates(~np.isin(codes, pilots))
    evidence = (BettingEvidence.of(r, limit, delta) for r in tested)
    return HeldOut(evidence, len(present), needed, start)


def _group_rates(risk: Risk, place: Ints, codes: Ints, s: Floats, size: int) -> Iterator[Floats]:
    """Yield the rates of the groups that are counted, at every threshold."""
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(size), side="right")
    n_groups = int(codes.max(initial=-1)) + 1

    def sums(rows: Ints) -> Floats:
        return np.bincount(codes[rows], s[rows], n_groups).astype(np.float64)

    bad = np.zeros(n_groups)
    counted = bad.copy() if risk.answered_only else sums(np.flatnonzero(risk.counted))
    # Each threshold adds the rows that it is the first to answer.
    for rows in np.split(order, ends)[:size]:
        bad += sums(rows[risk.bad[rows]])
        if risk.answered_only:
            counted += sums(rows[risk.counted[rows]])
        there = counted > 0
        # Sums of weights are rounded each in its own order.
        yield np.minimum(bad[there] / counted[there], 1.0)
