"""Text that is numbers: what is one, what stands for a missing one, and what is neither."""

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.absent import is_absent
from elmband.sources.encode.raw import ColumnError, Numbers, Words
from elmband.sums.moments import Moments

_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)
# What is longer is shortened in sentences.
_LONGEST = 40
_NAMED = 3


class Place(NamedTuple):
    """Which rows of a file or of a table some values come from, for sentences."""

    label: str
    rows: Array


@dataclass(frozen=True)
class Strays(Moments):
    """How many rows hold what does not belong to a column, and the first of them met.

    Each of these is the name of a file or table, a row of it and a value.
    """

    n: int = 0
    first: tuple[tuple[str, int, str], ...] = ()

    def __add__(self, other: Self) -> Self:
        return type(self)(self.n + other.n, (self.first + other.first)[:_NAMED])

    def __str__(self) -> str:
        return ", ".join(f"{quoted(value)} (row {row})" for _, row, value in self.first)

    @property
    def label(self) -> str:
        """Name of the first file or table."""
        return self.first[0][0]


NO_STRAYS = Strays()


def quoted(value: str) -> str:
    """Return text in quotes, shortened where it is long."""
    return repr(value if len(value) <= _LONGEST else f"{value[: _LONGEST - 3]}...")


def strays(words: Words, strange: Array, place: Place) -> Strays:
    """Return the rows whose level is marked in `strange` (levels,)."""
    marked = np.append(strange, False)[words.codes]
    first = np.flatnonzero(marked)[:_NAMED].tolist()
    found = ((place.label, int(place.rows[k]), words.levels[words.codes[k]]) for k in first)
    return Strays(int(np.count_nonzero(marked)), tuple(found))


def is_number(text: str) -> bool:
    """Tell whether text is a finite number.

    Examples
    --------
    >>> [is_number(text) for text in ("12", " -1.5e3 ", ".5", "1,5", "1_000", "inf", "1e999")]
    [True, True, True, False, False, False, False]
    """
    return _NUMBER.fullmatch(text) is not None and bool(np.isfinite(float(text)))


def read_numbers(levels: Sequence[str]) -> tuple[Array, Array]:
    """Return text as numbers (n,), NaN where it is none, and whether it is a mark of absence."""
    values = np.array([float(text) if is_number(text) else np.nan for text in levels])
    absent = np.zeros(len(levels), dtype=bool)
    for k in np.flatnonzero(np.isnan(values)).tolist():
        absent[k] = is_absent(levels[k])
    return values, absent


def as_numbers(words: Words, *, lenient: bool = False) -> Numbers:
    """Return text as the numbers that it is, missing where there is a mark of absence.

    Where the text is `lenient`ly taken for numbers, all else is missing too, with a warning.
    """
    values, absent = read_numbers(words.levels)
    strange = strays(words, np.isnan(values) & ~absent, Place("", np.arange(len(words.codes))))
    if strange.n and not lenient:
        _, row, value = strange.first[0]
        raise ColumnError(
            f"holds {quoted(value)}, which is not a number; the encoder was fitted on numbers: "
            "mend it, or make it empty.",
            row,
        )
    if strange.n:
        # Without their number, so that it is said once.
        warnings.warn(
            f"Text that is no number, such as {quoted(strange.first[0][2])}, is taken for missing.",
            UserWarning,
            stacklevel=2,
        )
    return Numbers(np.append(values, np.nan)[words.codes])
