"""Held-out rows as evidence at every threshold of a grid, and where tests on them begin.

They begin where the strongest evidence is to be expected. Of groups, some are a pilot that tells
where that is, and are no evidence afterwards.
"""

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
from elmband.uncertainty.promise.risk import Risk, effective, group_codes
from elmband.uncertainty.promise.threshold import Bools, Floats, Ints

# With so many times the groups that are needed there are enough for some of them to be a pilot.
PILOTED = 3.0
# One of so many groups is a pilot group.
ONE_OF = 8
# What training rows tell of risks counts as so many groups.
PRIOR_GROUPS = 20
# Rows of a group count as so many independent ones where there are no pilot groups.
ROWS_OF_A_GROUP = 8


class Hypotheses(NamedTuple):
    """What is to be tested: the risk at the thresholds of a grid, by `limit` at level delta."""

    risk: Risk
    grid: Grid
    limit: float
    delta: float


class Expected(NamedTuple):
    """What is to be expected at every threshold: the share of groups there, and their risk."""

    shares: Floats
    risks: Floats


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


def most_telling(expected: Floats, risks: Floats, limit: float) -> int:
    """Return the threshold with the strongest evidence, from what is expected at each.

    The logarithm of the p-value of n rows with a risk of r is near -n·KL(r, limit), with Kullback
    and Leibler's divergence of coins that fall with these probabilities. At stricter thresholds
    rows are too few, at looser ones too many are bad. A test that passes here has a promise to
    make, and goes on to looser thresholds.

    Numbers and risks are those of training rows or of pilot groups, never of the rows tested.
    Their scores would tell how many of the answered rows are among the most certain ones, given
    which the number of bad ones is not binomial any more.
    """
    return int(np.argmax(expected * divergence(risks, limit)))


def divergence(risks: Floats, limit: float) -> Floats:
    """Return r·log(r/limit) + (1-r)·log((1-r)/(1-limit)), 0 for risks above the limit."""
    r = np.clip(risks, 1e-300, limit)
    return r * np.log(r / limit) + (1 - r) * np.log((1 - r) / (1 - limit))


def pilot_groups(present: Ints) -> Ints:
    """Return some of the groups, drawn at random from their sorted labels.

    Whether a group is a pilot group depends on its label and on nothing that is measured, so
    that the others are a sample as good as all of them.
    """
    rng = np.random.default_rng(0)
    return rng.permutation(present)[: len(present) // ONE_OF]


def expected_of_pilots(rates: Iterable[Floats], n_pilots: int, risks: Floats) -> Expected:
    """Return what pilot groups tell, from the rates of those that are there at each threshold.

    One group more that is there, and one that is not, keep shares away from 0 and 1. Rates are
    drawn to the risks of training rows.
    """
    seen = np.array([(len(r), r.sum()) for r in rates])
    n, bad = seen.T
    return Expected((n + 1) / (n_pilots + 2), (bad + PRIOR_GROUPS * risks) / (n + PRIOR_GROUPS))


def shares_without(shares: Floats) -> Floats:
    """Guess the share of groups from shares of training rows, whose groups are not known."""
    return 1 - (1 - shares) ** ROWS_OF_A_GROUP
