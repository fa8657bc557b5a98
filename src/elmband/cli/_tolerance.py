"""Whether a model does what it was asked for, give or take a tolerance."""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.ground.wording import percent_exactly


class Compared(NamedTuple):
    """A share as it was asked for and as it is; `both` says that it may be too large as well."""

    what: str
    asked: float
    found: float
    both: bool
    more: str = ""

    def missed(self, tolerance: float) -> str | None:
        """Say how far off the share is, None within the tolerance or where there is none."""
        # Differences of decimal numbers leave rounding: 0.95 is 0.05 from 0.9.
        allowed = tolerance + 1e-12
        if self.asked - self.found > allowed:
            return f"{self.what} {self.found:.4g} instead of {self.asked:g}"
        if self.both and self.found - self.asked > allowed:
            return f"{self.what} {self.found:.4g} instead of {self.asked:g}{self.more}"
        return None


def check_tolerance(model: Any, tolerance: float | None) -> None:
    """Refuse a tolerance for what says nothing that could be missed."""
    if tolerance is None:
        return
    if not isinstance(model, ELMIntervalRegressor | ELMSelectiveClassifier):
        raise ValueError(f"A {type(model).__name__} says nothing that --tolerance could check.")
    wishes = ("coverage", "max_error", "max_fpr", "min_precision")
    asked = [getattr(model, wish, None) is not None for wish in wishes]
    if isinstance(model, ELMSelectiveClassifier) and not any(asked):
        raise ValueError(
            "The model was asked for nothing that --tolerance could check: fit it with --coverage, "
            "--max-error, --max-fpr or --min-precision."
        )


def missed(model: Any, found: Any, tolerance: float | None) -> list[str]:
    """Return in words what is not as it should be, by more than the tolerance."""
    if tolerance is None:
        return []
    said = (compared.missed(tolerance) for compared in _compared(model, found))
    return [sentence for sentence in said if sentence is not None]


def _compared(model: Any, found: Any) -> Iterator[Compared]:
    if isinstance(model, ELMIntervalRegressor):
        for level in found.levels:
            what = f"Intervals of {percent_exactly(level.confidence_level)} cover a share of"
            more = ", more than was asked for: they are too wide"
            for coverage in np.atleast_1d(level.coverage).tolist():
                yield Compared(what, level.confidence_level, coverage, both=True, more=more)
        return
    if model.coverage is not None:
        what = "The share of rows that are answered is"
        yield Compared(what, model.coverage, found.answered, both=True)
    for what, asked, share in (
        ("The share of answered rows that are right is", model.max_error, found.error),
        ("The share of negatives that are not answered as positive is", model.max_fpr, found.fpr),
    ):
        # Without such rows nothing is wrong.
        if asked is not None and not math.isnan(share):
            yield Compared(what, 1 - asked, 1 - share, both=False)
    if model.min_precision is not None and not math.isnan(found.precision):
        what = "The share of rows answered as positive that are so is"
        yield Compared(what, model.min_precision, found.precision, both=False)
