"""Thresholds that keep a promise: tests on held-out rows, in a sequence fixed before."""

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from elmband._arrays import Array
from elmband.promise.bounds import Evidence
from elmband.promise.grid import Grid
from elmband.promise.held_out import held_out
from elmband.promise.risk import Risk, checked_limit, checked_score
from elmband.promise.threshold import Ints, Meaning, Threshold, count, percent


def promise(
    risk: Risk,
    score: Array,
    grid: Grid,
    *,
    limit: float,
    confidence: float = 0.9,
    groups: Array | None = None,
    together: int = 1,
) -> Threshold:
    """Return the loosest threshold whose risk is at most `limit`, with the given confidence.

    Over the draw of independent held-out rows, or of independent groups of rows, the risk at the
    threshold returned is more than `limit` with a probability of at most 1 - confidence, whatever
    the model and its scores. With groups the risk is the mean over groups of the share within a
    group; groups without rows that count are left out.

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
    groups : (n,) array, optional
        Groups of rows that are not independent of each other.
    together : int
        Number of promises that are to hold all at once with this confidence.

    Raises
    ------
    ValueError
        If rows are too few, or if there is no threshold that can be promised.
    """
    values = checked_score(score, len(risk.bad))
    limit, delta = checked_limit(limit), _checked_delta(confidence, together)
    seen = held_out(risk, values, groups, grid, limit, delta)
    # A denominator that does not depend on the threshold is there from the strictest one on.
    starts = grid.starts(seen.available, seen.needed) if risk.answered_only else np.arange(1)
    walk = _walk(seen.evidence, starts, limit, delta)
    asked = _Asked(replace(risk.meaning, grouped=groups is not None), limit, confidence)
    if walk.most < seen.needed:
        raise ValueError(asked.too_few(seen.needed, walk.most))
    if walk.last is None:
        raise ValueError(asked.too_high(walk.first))
    place, evidence, level = walk.last
    value = float(grid.thresholds[place])
    return Threshold(
        value,
        "promise",
        asked.meaning,
        limit,
        n=evidence.n,
        observed=evidence.observed,
        answered=float(np.mean(values >= value)),
        confidence=confidence,
        # The test passed: only rounding can take the bound above the limit.
        bound=min(evidence.bound(level), limit),
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
    """A test: at which threshold of the grid, on what, at which level."""

    place: int
    evidence: Evidence
    level: float


class _Walk(NamedTuple):
    """The first test, the last that passed, and the largest number of rows or groups counted."""

    first: _Step
    last: _Step | None
    most: int


def _walk(evidence: Iterable[Evidence], starts: Ints, limit: float, delta: float) -> _Walk:
    """Test one threshold after the other, from the strictest to the loosest.

    Every start brings an equal part of delta. A test that passes hands its level on to the next
    one, a test that fails loses it. So a threshold whose risk is above `limit`, if no other such
    one passed before it, is tested at no more than was brought since the one before. All this
    adds up to delta, which therefore bounds the probability that any of these passes. (Learn then
    test: Angelopoulos et al., 2021. With one start this is fixed-sequence testing, with more the
    fallback procedure of Wiens and Dmitrienko, 2005.)
    """
    begins = frozenset(starts.tolist())
    level, most = 0.0, 0
    first = last = None
    for place, seen in enumerate(evidence):
        most = max(most, seen.n)
        level += delta / len(begins) if place in begins else 0.0
        if not level:
            continue
        step = _Step(place, seen, level)
        first = first or step
        if seen.p_value(limit) <= level:
            last = step
        else:
            level = 0.0
    assert first is not None
    return _Walk(first, last, most)


class _Asked(NamedTuple):
    """What was to be promised, and why it cannot be."""

    meaning: Meaning
    limit: float
    confidence: float

    @property
    def refusal(self) -> str:
        return (
            f"It cannot be promised with {100 * self.confidence:.10g} % confidence that "
            f"{self.meaning.claim(self.limit)}"
        )

    def too_few(self, needed: int, most: int) -> str:
        units = self.meaning.units
        return (
            f"{self.refusal}: the share has to be that of at least {count(needed, units)} held "
            f"out, even if none is bad, and there are {most:,}; hold out more {units}, or ask for "
            "a higher limit or less confidence."
        )

    def too_high(self, first: _Step) -> str:
        units, seen = self.meaning.units, first.evidence
        observed = self.meaning.seen(seen.observed, seen.n) if seen.n else f"that of no {units}"
        return (
            f"{self.refusal}: at the strictest threshold tried it was {observed} held out, which "
            f"bounds it only by {percent(seen.bound(first.level))}, and looser ones did no better; "
            f"ask for a higher limit or less confidence, or hold out more {units}."
        )
