"""Evidence on the risk at one threshold: p-values, upper bounds, and least numbers of rows.

A p-value is small if the risk is unlikely to be `limit` or more. Rows that are independent give
exact binomial ones. Rows of one group are not independent, but groups are: their rates are
bounded, and are tested by betting on them. So are rows that count by different weights.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import count
from typing import Protocol, Self

import numpy as np
from scipy.special import betainc, betaincinv

from elmband.uncertainty.promise.risk import effective
from elmband.uncertainty.promise.threshold import Floats

# The largest stake. With all at stake a single group that is bad as a whole would ruin the bet.
TOP_BET = 0.95
N_BETS = 5


class Evidence(Protocol):
    """What rows or groups say about the risk at one threshold."""

    @property
    def n(self) -> float:
        """Number of rows or groups in the denominator, effective where weights differ."""
        ...

    @property
    def observed(self) -> float:
        """Risk of these, nan if there are none."""
        ...

    def p_value(self, limit: float) -> float:
        """Return a p-value of the hypothesis that the risk is `limit` or more."""
        ...

    def bound(self, delta: float) -> float:
        """Return the risk that has the p-value delta: the least that can be promised."""
        ...

    def times(self, factor: float) -> Self:
        """Return what so many times the rows or groups would say, with the same risk."""
        ...


@dataclass(frozen=True)
class BinomialEvidence:
    """Independent rows: `bad` of `n`."""

    bad: float
    n: float

    @property
    def observed(self) -> float:
        """Share of bad rows."""
        return self.bad / self.n if self.n else math.nan

    def p_value(self, limit: float) -> float:
        """Return P(Binomial(n, limit) ≤ bad), as an incomplete beta function."""
        if self.bad == self.n:
            return 1.0
        return float(betainc(self.n - self.bad, self.bad + 1, 1 - limit))

    def bound(self, delta: float) -> float:
        """Return the upper end of Clopper and Pearson's one-sided interval."""
        if self.bad == self.n:
            return 1.0
        return float(betaincinv(self.bad + 1, self.n - self.bad, 1 - delta))

    def times(self, factor: float) -> Self:
        """Return so many times the rows, which need not be a whole number."""
        return type(self)(self.bad * factor, self.n * factor)


@dataclass(frozen=True, eq=False)
class BettingEvidence:
    """Independent groups, whose rates R of bad rows are between 0 and 1.

    A bet that the mean rate is below `limit`, with the share c of its wealth at stake on every
    group in turn, ends with

        W_c = Π_g (1 + c·q_g·((1 - R_g) / (1 - limit) - 1)),

    which is at most 1 in expectation if the mean rate is `limit` or more. So is the average of W_c
    over stakes c chosen beforehand, and by Markov's inequality its inverse is a p-value (Waudby-
    Smith and Ramdas, 2023). It does not depend on the order of the groups.

    All q are 1 for groups. Rows of different weights are groups of one row, with R of 0 or 1; q is
    the weight as a part of the largest one, and the mean is weighted: E[q·(R - limit)] ≥ 0 is
    what W_c tests. The largest weight is to be known beforehand.

    `rates` are distinct, each met as often as `counts` says: most groups have the rate 0.
    """

    rates: Floats
    counts: Floats
    bets: Floats
    q: Floats

    @classmethod
    def of(cls, rates: Floats, limit: float, delta: float) -> Self:
        """Collect the rates of groups, with stakes for a test of `limit` at level delta."""
        values, counts = np.unique(rates, return_counts=True)
        bets = stakes(len(rates), limit, delta)
        return cls(values, counts.astype(np.float64), bets, np.ones(len(values)))

    @classmethod
    def of_weighted(cls, bad: Floats, q: Floats, limit: float, delta: float) -> Self:
        """Collect rows, bad ones 1 and others 0, with weights q of at most 1."""
        n = float(effective(q.sum(), np.sum(q**2)))
        # A stake is on rows of weight 1; those on others are smaller by as much.
        ratio = float(q.sum() / max(np.sum(q**2), 1e-300))
        return cls(bad, np.ones(len(bad)), stakes(n, limit, delta, ratio), q)

    @property
    def n(self) -> float:
        """Number of groups, or of rows of equal weight that know as much."""
        n = effective(self.q @ self.counts, self.q**2 @ self.counts)
        return float(n) if (self.q != 1).any() else int(self.counts.sum())

    @property
    def observed(self) -> float:
        """Mean rate."""
        weights = self.q * self.counts
        return float(self.rates @ weights) / float(weights.sum()) if self.n else math.nan

    def times(self, factor: float) -> Self:
        """Return so many times the groups; the least stake is smaller the more there are."""
        least = float(self.bets.min()) / math.sqrt(max(factor, 1.0))
        bets = np.geomspace(least, TOP_BET, N_BETS)
        return replace(self, counts=self.counts * factor, bets=bets)

    def p_value(self, limit: float) -> float:
        """Return the inverse of the average wealth, 1 at most."""
        return math.exp(-max(self.log_wealth(limit), 0.0))

    def log_wealth(self, limit: float) -> float:
        """Return the logarithm of the average wealth, which grows with `limit`."""
        gains = (1 - self.rates) / (1 - limit) - 1
        logs = np.log1p(self.bets[:, None] * (self.q * gains)) @ self.counts
        most = float(logs.max())
        return most + math.log(np.mean(np.exp(logs - most)))

    def bound(self, delta: float) -> float:
        """Return the least limit at which the wealth reaches 1 / delta."""
        return _first(lambda limit: self.log_wealth(limit) >= -math.log(delta))


def stakes(n: float, limit: float, delta: float, ratio: float = 1.0) -> Floats:
    """Return what is staked on n groups for a test at level delta.

    The best stake against a mean just far enough below `limit` to be told from it is
    √(2 log(1/δ) / (n·v)), with v the variance of the rates. This is not known, but less than
    `limit`: stakes go from the best one for v = limit to the largest.
    """
    least = ratio * (1 - limit) * math.sqrt(-2 * math.log(delta) / (max(n, 1) * limit))
    return np.geomspace(min(least, TOP_BET), TOP_BET, N_BETS)


def _first(holds: Callable[[float], bool]) -> float:
    """Return the least share at which a condition holds that holds for all larger ones."""
    low, high = 0.0, 1.0
    while high - low > 1e-10:
        middle = (low + high) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def rows_needed(limit: float, delta: float) -> int:
    """Return the least number of rows that can be promised on if none is bad: (1-limit)ᵐ ≤ δ."""
    least = math.log(delta) / math.log1p(-limit)
    return next(
        n for n in count(math.floor(least)) if BinomialEvidence(0, n).p_value(limit) <= delta
    )


def groups_needed(limit: float, delta: float) -> int:
    """Return the least number of groups that can be promised on if all rates are 0."""
    # The largest stake alone would be the best one here, so that fewer are never enough.
    least = -math.log(delta) / math.log1p(TOP_BET * limit / (1 - limit))
    return next(n for n in count(math.floor(least)) if _zeros(n, limit, delta) <= delta)


def _zeros(n: int, limit: float, delta: float) -> float:
    """Return the p-value of n groups with the rate 0."""
    stake = stakes(n, limit, delta)
    return BettingEvidence(np.zeros(1), np.array([float(n)]), stake, np.ones(1)).p_value(limit)


def least_limit(n: int, delta: float, *, grouped: bool) -> float:
    """Return the least limit that n rows or groups can promise, if none is bad."""
    if not grouped:
        return BinomialEvidence(0, n).bound(delta)
    return _first(lambda limit: 0 < limit < 1 and _zeros(n, limit, delta) <= delta)


def times_needed(evidence: Evidence, limit: float, level: float) -> float:
    """Return how many times the rows or groups would promise the limit with the observed risk."""
    if not evidence.observed < limit:
        return math.inf
    high = 1.0
    while evidence.times(high).p_value(limit) > level and high < 1e6:
        high *= 1.1
    return high
