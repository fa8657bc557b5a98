"""Shares of rows: what was measured, how certain the measurement is, and whether it is kept."""

import math
from typing import Literal, NamedTuple, Self

from scipy.special import ndtri

# Of measurements like these, so many hold the truth.
CERTAINTY = 0.95
# Where many shares are looked at, the lowest is often low by chance: so many of a thousand hold.
_STRICT = 0.999
# Nobody minds a difference of one row in a hundred.
TOLERANCE = 0.01

Verdict = Literal["kept", "cautious", "broken", "unclear"]


class Share(NamedTuple):
    """A share of rows with the range in which the true one lies, by Wilson's interval.

    With z = Φ⁻¹(0.975) for 95 % and the share p of n independent rows, it is

        (p + z²/2n ± z·sqrt(p(1 - p)/n + z²/4n²)) / (1 + z²/n).
    """

    share: float
    low: float
    high: float

    @classmethod
    def of(cls, part: float, n: float, certainty: float = CERTAINTY) -> Self:
        """Divide, with NaN where there are no rows."""
        if n <= 0:
            return cls(math.nan, math.nan, math.nan)
        p, z = part / n, float(ndtri((1 + certainty) / 2))
        centre = p + z**2 / (2 * n)
        half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        whole = 1 + z**2 / n
        # Rounding must not lead beyond what was measured.
        return cls(p, min((centre - half) / whole, p), max((centre + half) / whole, p))

    def verdict(self, level: float) -> Verdict:
        """Judge a promise that this share holds, give or take one row in a hundred.

        It is unclear where fewer rows held, but so few were looked at that chance may explain it.
        """
        if self.high < level - TOLERANCE:
            return "broken"
        if self.share < level - TOLERANCE:
            return "unclear"
        return "cautious" if self.low > level + TOLERANCE else "kept"

    @classmethod
    def falls_short(cls, part: float, n: float, level: float) -> bool:
        """Tell whether one share among many is lower than promised, beyond what chance explains."""
        return cls.of(part, n, _STRICT).verdict(level) == "broken"

    def below(self, limit: float) -> Verdict:
        """Judge a promise that at most this share is wrong."""
        if self.low > limit:
            return "broken"
        return "unclear" if self.share > limit else "kept"
