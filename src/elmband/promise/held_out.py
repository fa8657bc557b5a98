"""Held-out rows as evidence at every threshold of a grid."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from elmband._arrays import Array
from elmband.promise.bounds import (
    BettingEvidence,
    BinomialEvidence,
    Evidence,
    groups_needed,
    rows_needed,
)
from elmband.promise.grid import Grid
from elmband.promise.risk import Risk, group_codes
from elmband.promise.threshold import Floats, Ints


class HeldOut(NamedTuple):
    """What can be said at every threshold, from the strictest on.

    `available` is the number of rows or groups that could be counted if all rows were answered,
    `needed` the least number that can be promised on.
    """

    evidence: Iterable[Evidence]
    available: int
    needed: int


def held_out(
    risk: Risk, score: Floats, groups: Array | None, grid: Grid, limit: float, delta: float
) -> HeldOut:
    """Prepare tests of `limit` at level delta: on rows, or on groups where these are given."""
    # The strictest threshold that answers a row, past the last one if there is none.
    place = np.searchsorted(-grid.thresholds, -score)
    size = len(grid.thresholds)
    if groups is None:
        return HeldOut(
            _row_evidence(risk, place, size), int(risk.counted.sum()), rows_needed(limit, delta)
        )
    codes, n_groups = group_codes(groups, len(score))
    rates = _group_rates(risk, place, codes, size, n_groups)
    return HeldOut(
        (BettingEvidence.of(r, limit, delta) for r in rates),
        len(np.unique(codes[risk.counted])),
        groups_needed(limit, delta),
    )


def _row_evidence(risk: Risk, place: Ints, size: int) -> Iterator[BinomialEvidence]:
    """Count bad rows and rows at every threshold."""
    bad = _reached(place[risk.bad], size)
    if risk.answered_only:
        counted = _reached(place[risk.counted], size)
    else:
        counted = np.full(size, int(risk.counted.sum()))
    return map(BinomialEvidence, bad.tolist(), counted.tolist())


def _reached(place: Ints, size: int) -> Ints:
    return np.cumsum(np.bincount(place, minlength=size + 1))[:size]


def _group_rates(
    risk: Risk, place: Ints, codes: Ints, size: int, n_groups: int
) -> Iterator[Floats]:
    """Yield the rates of the groups that are counted, at every threshold."""
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(size), side="right")
    bad = np.zeros(n_groups, dtype=np.intp)
    if risk.answered_only:
        counted = bad.copy()
    else:
        counted = np.bincount(codes[risk.counted], minlength=n_groups)
    # Each threshold adds the rows that it is the first to answer.
    for rows in np.split(order, ends)[:size]:
        bad += np.bincount(codes[rows[risk.bad[rows]]], minlength=n_groups)
        if risk.answered_only:
            counted += np.bincount(codes[rows[risk.counted[rows]]], minlength=n_groups)
        there = counted > 0
        yield bad[there] / counted[there]
