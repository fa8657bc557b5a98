"""Thresholds that keep a promise: tests on held-out rows, in a sequence fixed before."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from elmband.ground.arrays import Array
from elmband.uncertainty.promise.bounds import Evidence
from elmband.uncertainty.promise.grid import Grid
from elmband.uncertainty.promise.held_out import Hypotheses, held_out
from elmband.uncertainty.promise.refusal import Refusal
from elmband.uncertainty.promise.risk import (
    Risk,
    checked_groups,
    checked_limit,
    checked_score,
    checked_weights,
)
from elmband.uncertainty.promise.threshold import Threshold


def promise(
    risk: Risk,
    score: Array,
    grid: Grid,
    *,
    limit: float,
    confidence: float = 0.9,
    sample_weight: Array | None = None,
    groups: Array | None = None,
    together: int = 1,
) -> Threshold:
    """Return the loosest threshold whose risk is at most `limit`, with the given confidence.

    Over the draw of independent held-out rows, or of independent groups of rows, the risk at the
    threshold returned is more than `limit` with a probability of at most 1 - confidence, whatever
    the model and its scores. With groups the risk is the mean over groups of the share within a
    group. Where only answered rows count, it is the mean over those groups that have such a row at
    this threshold; which these are is part of what is promised.

    The probability is that of one call. Whoever calls again with other limits or models until a
    promise is made has a larger one of being wrong.

    Parameters
    ----------
    risk : Risk
        The risk of the held-out rows.
    score : (n,) array
        Their scores, larger for more certain rows.
    grid : Grid
        Thresholds to be tried, made without these rows.
    limit : float
        The largest risk allowed, more than 0 and less than 1.
    confidence : float
        Probability that the promise holds, more than 0 and less than 1.
    sample_weight : (n,) array, optional
        A row of weight s counts as s rows in every share, but not as s rows of evidence: a common
        factor changes nothing, and a row of weight 0 might as well not be there.
    groups : (n,) array, optional
        Groups of rows that are not independent of each other. Weights count within a group.
    together : int
        Number of promises that are to hold all at once with this confidence.

    Raises
    ------
    ValueError
        If rows are too few, or if there is no threshold that can be promised.
    """
    values, s = checked_score(score, len(risk.bad)), checked_weights(sample_weight, len(risk.bad))
    limit, delta = checked_limit(limit), _checked_delta(confidence, together)
    names = None if groups is None else checked_groups(groups, len(values))[s > 0]
    risk, values, s = risk.part(s > 0), values[s > 0], s[s > 0]
    seen = held_out(Hypotheses(risk, grid, limit, delta), values, s, names)
    walk = _walk(seen.evidence, seen.start, limit, delta)
    meaning = replace(risk.meaning, grouped=groups is not None)
    refusal = Refusal(meaning, limit, confidence, delta, seen.available)
    if walk.most < seen.needed:
        raise ValueError(refusal.too_few(seen.needed, walk.most))

    def answered(place: int) -> float:
        return float(np.average(values >= grid.thresholds[place], weights=s))

    if walk.last is None:
        assert walk.first is not None  # tests begin at a threshold of the grid
        raise ValueError(refusal.too_high(walk.first, answered(seen.start)))
    place, evidence = walk.last
    return Threshold(
        float(grid.thresholds[place]),
        "promise",
        meaning,
        limit,
        n=evidence.n,
        observed=evidence.observed,
        answered=answered(place),
        confidence=confidence,
        # The test passed: only rounding can take the bound above the limit.
        bound=min(evidence.bound(delta), limit),
        together=together,
    )


def _checked_delta(confidence: float, together: int) -> float:
    """Return the probability that a single promise may have of being broken."""
    if not 0 < confidence < 1:
        raise ValueError(
            f"confidence={confidence!r} cannot be had; give a probability more than 0 and less "
            "than 1, such as 0.9."
        )
    if together < 1:
        raise ValueError(f"together={together!r} is not a number of promises; give 1 or more.")
    return (1 - confidence) / together


class _Step(NamedTuple):
    """A test that passed: at which threshold of the grid, and on what."""

    place: int
    evidence: Evidence


class _Walk(NamedTuple):
    """The first test, the last one that passed, and the most rows or groups counted."""

    first: Evidence | None
    last: _Step | None
    most: float


def _walk(evidence: Iterable[Evidence], start: int, limit: float, delta: float) -> _Walk:
    """Test one threshold after the other, from `start` to the loosest, until one fails.

    Fixed-sequence testing: the first threshold whose risk is above `limit` is tested at level
    delta, and no looser one passes unless it does. So delta bounds the probability that any
    such threshold passes. (Learn then test: Angelopoulos et al., 2021.)
    """
    first, last, most = None, None, 0.0
    going = True
    for place, seen in enumerate(evidence):
        most = max(most, seen.n)
        if place < start:
            continue
        first = first or seen
        going = going and seen.p_value(limit) <= delta
        if going:
            last = _Step(place, seen)
    return _Walk(first, last, most)
