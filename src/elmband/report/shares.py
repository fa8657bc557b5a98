"""Shares of rows: what was measured, how certain the measurement is, and whether it is kept."""

import math
from typing import Any, Literal, NamedTuple, Self

from scipy.special import betaincinv

# Confidence of the margins: so many of them hold the true share.
CERTAINTY = 0.95
# A level counts as kept if it is missed by no more than one row in a hundred.
TOLERANCE = 0.01
# A share whose margins are further apart than this was measured on too few rows to be judged.
_WIDEST = 0.15

Verdict = Literal["kept", "near", "cautious", "broken", "unclear"]


class Share(NamedTuple):
    """A share of rows with the range in which the true one lies, by Clopper and Pearson's interval.

    It is exact for few rows too: true shares within it are those with which k of n independent rows
    or fewer, and k or more, are each seen in at least 2.5 of 100 cases, for 95 %. They end at

        B⁻¹(0.025; k, n - k + 1)   and   B⁻¹(0.975; k + 1, n - k),

    quantiles of the beta distribution. Of many groups of a few rows, Wilson's interval, which is
    narrower, would call some broken by chance alone.
    """

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, part: float, n: float, *, looks: int = 1) -> Self:
        """Return the share part / n and its margin, NaN where there are no rows.

        Of several shares that are looked at, all ranges hold the truth together with this
        certainty: each may miss it `looks` times less often (Bonferroni).
        """
        if n <= 0:
            return cls(math.nan, math.nan, math.nan)
        tail = (1 - CERTAINTY) / (2 * max(looks, 1))
        low = float(betaincinv(part, n - part + 1, tail)) if part > 0 else 0.0
        high = float(betaincinv(part + 1, n - part, 1 - tail)) if part < n else 1.0
        return cls(part / n, low, high)

    @property
    def margin(self) -> dict[str, float]:
        """Both ends, as fields of a line."""
        return {"low": self.low, "high": self.high}

    def verdict(self, level: float) -> Verdict:
        """Judge a promise that this share holds, give or take one row in a hundred.

        It is broken, or more than kept, where the whole range lies below or above. Else a range of
        more than 15 rows in a hundred tells nothing; within a smaller one, a share that is lower
        than promised is near.
        """
        if self.high < level - TOLERANCE:
            return "broken"
        if self.low > level + TOLERANCE:
            return "cautious"
        if self.high - self.low > _WIDEST:
            return "unclear"
        return "near" if self.share < level - TOLERANCE else "kept"

    def below(self, limit: float) -> Verdict:
        """Judge a promise that at most this share is wrong."""
        if self.low > limit:
            return "broken"
        return "unclear" if self.share > limit else "kept"


def group_verdict(measured: Share, n: float, level: float) -> Verdict | None:
    """Judge one group of several; a single row gets no verdict."""
    return measured.verdict(level) if n > 1 else None


def judged(name: str, part: float, n: float, level: float, looks: int) -> dict[str, Any]:
    """Return the share of one of several groups by `name`, its margin and a verdict, as fields."""
    measured = Share.of(part, n, looks=looks)
    return {name: measured.share, **measured.margin, "verdict": group_verdict(measured, n, level)}


def limits(level: float) -> dict[str, float]:
    """Return the range of shares that count as met: the level, give or take 0.01."""
    return {"low": max(level - TOLERANCE, 0.0), "high": min(level + TOLERANCE, 1.0)}
