"""A target that is text, as the numbers 0, 1, ... of its sorted levels."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import ColumnError, Nothing, Numbers, Raw, Words
from elmband.sums.moments import Moments

# More levels than these are names of rows rather than classes.
_MOST = 1000


@dataclass(frozen=True)
class TargetLevels:
    """The levels of a target, sorted; those of booleans are False and True."""

    name: str
    levels: tuple[str, ...] | tuple[bool, ...]

    def codes(self, raw: Raw) -> Array:
        """Return the number of the level of each row, NaN where it is missing."""
        if isinstance(raw, Nothing):
            return np.full(raw.n, np.nan)
        if isinstance(raw, Numbers) and self.levels == (False, True):
            if not np.isin(raw.values[~raw.missing], (0, 1)).all():
                raise ColumnError("holds other numbers than 0 and 1, the fit saw booleans.")
            return raw.values
        if not isinstance(raw, Words):
            raise ColumnError(f"holds {raw.kind}, the encoder was fitted on text; convert it.")
        known = {level: float(place) for place, level in enumerate(self.levels)}
        used = np.unique(raw.codes[raw.codes >= 0]).tolist()
        unseen = sorted(raw.levels[code] for code in used if raw.levels[code] not in known)
        if unseen:
            raise ColumnError(
                f"holds the level {unseen[0]!r}, which the fit did not see; it saw "
                f"{', '.join(repr(level) for level in self.levels[:10])}."
            )
        return np.asarray([*(known.get(level, np.nan) for level in raw.levels), np.nan])[raw.codes]


@dataclass(frozen=True, eq=False)
class TargetKinds(Moments):
    """What a target was met as: text with these levels, booleans, or numbers."""

    name: str
    kind: str
    levels: frozenset[str] = frozenset()

    def __add__(self, other: Self) -> Self:
        if "nothing" in {self.kind, other.kind}:
            return other if self.kind == "nothing" else self
        kinds = {self.kind, other.kind}
        if kinds == {"booleans", "numbers"}:
            return type(self)(self.name, "numbers")
        if len(kinds) > 1:
            raise ColumnError(
                f"holds {other.kind}, rows before it {self.kind}; make it one type in all rows."
            )
        levels = self.levels | other.levels
        if len(levels) > _MOST:
            raise ColumnError(
                f"is text with more than {_MOST} levels, these are no classes; choose another "
                "target."
            )
        return type(self)(self.name, self.kind, levels)

    def learned(self) -> TargetLevels | None:
        """Return the levels, or None for numbers."""
        if self.kind == "text":
            return TargetLevels(self.name, tuple(sorted(self.levels)))
        return TargetLevels(self.name, (False, True)) if self.kind == "booleans" else None


def sum_target(name: str, raw: Raw) -> TargetKinds:
    """Gather the levels of some rows."""
    if isinstance(raw, Words):
        used = np.unique(raw.codes[raw.codes >= 0]).tolist()
        return TargetKinds(name, "text", frozenset(raw.levels[code] for code in used))
    if isinstance(raw, Numbers) and raw.kind == "numbers":
        return TargetKinds(name, "booleans" if raw.boolean else "numbers")
    if isinstance(raw, Nothing):
        return TargetKinds(name, "nothing")
    raise ColumnError(f"holds {raw.kind}; a target is a column of numbers or of text.")
