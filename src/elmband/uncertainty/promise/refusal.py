"""Why something cannot be promised, and what it would take."""

import math
from typing import NamedTuple

from elmband.ground.wording import counted, percent, percent_exactly
from elmband.uncertainty.promise.bounds import Evidence, least_limit, times_needed
from elmband.uncertainty.promise.threshold import Meaning


class Refusal(NamedTuple):
    """What was to be promised, by how many rows or groups, at a level of delta."""

    meaning: Meaning
    limit: float
    confidence: float
    delta: float
    available: float

    @property
    def beginning(self) -> str:
        """Say what cannot be promised."""
        return (
            f"It cannot be promised with {percent_exactly(self.confidence)} confidence that "
            f"{self.meaning.claim(self.limit)}"
        )

    def too_few(self, needed: int, most: float) -> str:
        """Say how many rows or groups are needed, and what those there are could promise."""
        units, floor = self.meaning.units, math.floor(most)
        could = ""
        if floor:
            limit = least_limit(floor, self.delta, grouped=self.meaning.grouped)
            could = f", which can promise {_upwards(limit)} at the least"
        return (
            f"{self.beginning}: the share has to be that of at least "
            f"{counted(needed, units.removesuffix('s'))} held out, even if none is bad, and there "
            f"are {floor:,}{could}; hold out more {units}, or ask for a higher limit or less "
            "confidence."
        )

    def too_high(self, seen: Evidence, answered: float) -> str:
        """Say what was seen where tests began, how much that answers, and what it takes."""
        units, bound = self.meaning.units, seen.bound(self.delta)
        observed = self.meaning.seen(seen.observed, seen.n) if seen.n else f"that of no {units}"
        return (
            f"{self.beginning}: at the threshold where tests began, which answers "
            f"{percent(answered)} of all rows, it was {observed} held out, which bounds it "
            f"only by {_upwards(bound)}. {self._takes(seen)} Ask for a higher limit or less "
            f"confidence, or hold out more {units}: new ones, since a promise that is tried for "
            "again and again on the same ones holds less surely than it says."
        )

    def _takes(self, seen: Evidence) -> str:
        """Say how many rows or groups it takes if the risk stays what it was."""
        units = self.meaning.units
        if not seen.n:
            return f"It takes {units} as certain as training rows."
        times = times_needed(seen, self.limit, self.delta)
        if math.isinf(times):
            return f"That is no less than the limit, so that more {units} alone would not help."
        n = times * self.available
        digits = 10 ** max(math.floor(math.log10(n)) - 1, 0)
        return f"If it stays so, it takes some {math.ceil(n / digits) * digits:,} {units} held out."


def _upwards(share: float) -> str:
    """Write a bound in percent, rounded up to three digits."""
    if share >= 1:
        return percent(1.0)
    digits = 10 ** (2 - math.floor(math.log10(100 * share)))
    return f"{math.ceil(100 * share * digits * (1 - 1e-9)) / digits:.3g} %"
