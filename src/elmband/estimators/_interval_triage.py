"""Abstention of a regressor: rows whose interval is narrow enough, the others for a person."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from elmband.estimators._answers import IntervalAnswers
from elmband.estimators._validate import Levels, check_levels
from elmband.ground.arrays import Array, namespace, place, to_numpy
from elmband.ground.frames import framed
from elmband.uncertainty.noise.parts import Parts

REASONS = np.array(["accepted", "noisy here", "unlike training rows"], dtype=object)
"""Why a row is accepted or not; a number in a file is the place in this list."""

_NOISY = 1


class IntervalTriage(NamedTuple):
    """Predictions to take and rows for a person.

    Attributes
    ----------
    mean : array of shape (n,) or (n, m)
        The predicted mean of every row.
    interval : array of shape (n, 2) or (n, m, 2)
        Its interval.
    accepted : array of bool, (n,)
        Whether the interval is narrow enough, for every output.
    reason : array of str, (n,)
        "accepted", or what most of the variance comes from: targets are "noisy here", or the row
        is "unlike training rows", of which the model knows too little there.
    """

    mean: Any
    interval: Any
    accepted: Any
    reason: Any


class NarrowAnswers(IntervalAnswers):
    """Acceptance of rows by the width of their interval."""

    def accept(
        self,
        X: Any,
        *,
        max_width: Any,
        confidence_level: float = 0.95,
        out: str | Path | None = None,
    ) -> Any:
        """Return which rows have an interval of at most `max_width`, (n,) of bool.

        With several outputs all intervals must be as narrow; `max_width` may then be a list. A
        file name `out` streams the result to a .parquet, .npy, .h5, .csv or .arrow file.
        """
        levels = _single(confidence_level)

        def block(part: Array) -> Array:
            return self._narrow(self._totals(part), levels, max_width, part)

        return self._streamed(X, "accept", block, ["accepted"], out)

    def triage(
        self, X: Any, *, max_width: Any, confidence_level: float = 0.95, as_frame: bool = False
    ) -> Any:
        """Return predictions, which of them are accepted, and why the others are not.

        It is an `IntervalTriage`, or with `as_frame` a table of the library of X.
        """
        levels = _single(confidence_level)

        def block(part: Array) -> tuple[Array, ...]:
            parts, xp = self._parts(part), namespace(part)
            accepted = self._narrow(parts, levels, max_width, part)
            unknown = xp.any(parts.mean_model + parts.noise_model > parts.noise, axis=1)
            reason = _NOISY + xp.astype(unknown, xp.int64)
            mean = self._shaped(self._mean_in_units(parts, part))
            interval = self._interval(parts, levels, part)
            return mean, interval, accepted, xp.where(accepted, xp.zeros_like(reason), reason)

        mean, interval, accepted, reason = self._tupled(X, "triage", block)
        reasons = REASONS.take(to_numpy(reason))
        if not as_frame:
            return IntervalTriage(mean, interval, accepted, reasons)
        flat = namespace(mean).concat([mean.reshape(-1, 1, 1), interval.reshape(-1, 1, 2)], axis=2)
        names = self._names("mean", "lower", "upper")
        columns = dict(zip(names, flat.reshape(len(reasons), -1).T, strict=True))
        return framed({**columns, "accepted": accepted, "reason": reasons}, X)

    def _narrow(self, parts: Parts, levels: Levels, max_width: Any, X: Array) -> Array:
        """Return which rows of a block have narrow intervals only."""
        xp, count = namespace(X), int(self._targets.mean.shape[0])
        widths = np.asarray(max_width, dtype=np.float64)
        if widths.shape not in ((), (count,)) or not np.all(widths >= 0):
            raise ValueError(
                f"max_width must be zero or more, or such a number for each of {count} outputs; "
                f"got {max_width!r}."
            )
        low, high = self._bounds(parts, levels.values[0], X)
        # An infinite interval is never narrow, even where both bounds are at the same end.
        narrow = (high - low <= place(widths, X, low.dtype)) & xp.isfinite(high - low)
        return xp.all(narrow, axis=1)


def _single(confidence_level: Any) -> Levels:
    levels = check_levels(confidence_level)
    if not levels.single:
        raise ValueError("accept and triage take a single confidence_level.")
    return levels
