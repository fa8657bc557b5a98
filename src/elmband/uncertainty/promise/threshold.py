"""A threshold, and what it means in plain sentences."""

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from elmband.ground.arrays import Array
from elmband.ground.wording import counted, percent, percent_exactly

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.intp]]
Bools = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True)
class Meaning:
    """A risk in words: the share `of` some rows that `are` bad, in rows or in the average group."""

    name: str
    of: str
    are: str
    grouped: bool = False

    @property
    def units(self) -> str:
        """What is counted."""
        return "groups" if self.grouped else "rows"

    def claim(self, limit: float) -> str:
        """Say that the risk is at most `limit`."""
        where = " in the average group" if self.grouped else ""
        return f"at most {percent(limit)} of {self.of} {self.are}{where}"

    def seen(self, observed: float, n: float) -> str:
        """Say what was observed, and on how many rows or groups."""
        of = "over" if self.grouped else "of"
        return f"{percent(observed)} {of} {counted(n, self.units.removesuffix('s'))}"


COVERAGE = Meaning("coverage", "all rows", "are answered")


@dataclass(frozen=True)
class Threshold:
    """The least score that is answered, with all that is known of its risk.

    Attributes
    ----------
    value : float
        Rows are answered where the score is at least this; infinite if no row may be, minus
        infinite if every row may be.
    kind : "promise" or "estimate"
        A promise was tested on rows held out, an estimate was not.
    meaning : Meaning
        The risk, in words.
    limit : float
        The largest risk allowed; the least share of rows to be answered if that was asked for.
    n : float
        Rows, or groups, in the denominator of the risk at this threshold. Weights are counts.
    observed : float
        Risk of these; nan if there are none.
    answered : float
        Share of all rows that is answered.
    confidence : float or None
        Probability that the promise holds, over the draw of the rows held out.
    bound : float or None
        Upper bound of the risk that the test at this threshold allows, never above the limit.
        Only the limit is promised, since the threshold was chosen by the same rows.
    together : int
        Number of promises that hold all at once with this confidence.
    """

    value: float
    kind: Literal["promise", "estimate"]
    meaning: Meaning
    limit: float
    n: float
    observed: float
    answered: float
    confidence: float | None = None
    bound: float | None = None
    together: int = 1

    def __repr__(self) -> str:
        return f"Threshold({self.value:.4g}: {self.sentence})"

    @property
    def risk(self) -> str:
        """The name of the risk."""
        return self.meaning.name

    def answers(self, score: Array) -> Any:
        """Return which rows are answered; those without a score are not."""
        return score >= self.value

    @property
    def sentence(self) -> str:
        """What a user may rely on, and what was seen."""
        claim = self.meaning.claim(self.limit)
        if self.confidence is not None:
            claim = f"Promised with {_confidence(self.confidence, self.together)}: {claim}."
        elif self.risk == COVERAGE.name:
            claim = f"Estimated, not promised: {percent(self.limit)} of all rows are answered."
        elif self.value == math.inf:
            return f"No threshold was found at which {claim}: no row is answered."
        else:
            claim = f"Estimated, not promised: {claim}."
        return f"{claim} {self._seen}"

    @property
    def _seen(self) -> str:
        seen = f"It was {self.meaning.seen(self.observed, self.n)}"
        if self.bound is not None:
            seen += f" held out, which bounds it by {percent(self.bound)}"
        if self.risk != COVERAGE.name:
            seen += f"; {percent(self.answered)} of all rows were answered"
        return f"{seen}."


def _confidence(confidence: float, together: int) -> str:
    others = {1: "", 2: ", together with 1 other"}.get(
        together, f", together with {together - 1} others"
    )
    return f"{percent_exactly(confidence)} confidence{others}"
