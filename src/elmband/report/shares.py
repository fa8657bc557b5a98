"""Shares of rows: what was measured, how certain the measurement is, and whether it is kept."""

import math
from typing import Literal, NamedTuple, Self

from scipy.special import ndtri

# Of measurements like these, so many hold the truth.
CERTAINTY = 0.95
# Nobody minds a difference of one row in a hundred.
TOLERANCE = 0.01
# A share whose margins are further apart than this was measured on too few rows to be judged.
_WIDEST = 0.15

Verdict = Literal["kept", "near", "cautious", "broken", "unclear"]


class Share(NamedTuple):
    """A share of rows with the range in which the true one lies, by Wilson's interval.

    With z = Φ⁻¹(0.975) for 95 % and the share p of n independent rows, it is

        (p + z²/2n ± z·sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n).
    """

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, part: float, n: float, certainty: float = CERTAINTY, *, looks: int = 1) -> Self:
        """Divide, with NaN where there are no rows.

        Of several shares that are looked at, all ranges hold the truth together with this
        certainty: each may miss it `looks` times less often (Bonferroni).
        """
        if n <= 0:
            return cls(math.nan, math.nan, math.nan)
        p, z = part / n, float(-ndtri((1 - certainty) / (2 * max(looks, 1))))
        centre = p + z**2 / (2 * n)
        half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        whole = 1 + z**2 / n
        # Rounding must not lead beyond what was measured.
        return cls(p, min((centre - half) / whole, p), max((centre + half) / whole, p))

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


def limits(level: float) -> dict[str, float]:
    """Return the ends of what counts as met: a row in a hundred more or less."""
    return {"low": max(level - TOLERANCE, 0.0), "high": min(level + TOLERANCE, 1.0)}
