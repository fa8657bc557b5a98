"""Text that is numbers: what is one, what stands for a missing one, and what is neither."""

import re
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.raw import ColumnError, Numbers, Words
from elmband.sums.moments import Moments

_NUMBER = re.compile(r"\s*[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?\s*", re.ASCII | re.IGNORECASE)
# Numbers as people write them: with marks after thousands, currencies, percent signs and units.
_MONEY = "[$\u00a2\u00a3\u00a5\u20a0-\u20bf]"
_DIGITS = r"(?:[1-9]\d{0,2}(?:[., '\u2019\u00a0\u202f]\d{3})+|\d+)(?:[.,]\d+)?"
_WORD = "[A-Za-z\u00b5]{1,5}[23\u00b2\u00b3]?(?:/[A-Za-z]{1,4}[23]?)?"
_UNIT = rf"%|\u2030|{_MONEY}|\u00b0[CF]?|{_WORD}"
_MARKED = re.compile(rf"[+-]?(?:{_MONEY} ?)?[+-]?{_DIGITS}[ \u00a0\u202f]?(?P<unit>{_UNIT})?")
# Units that differ between the rows of a column: thousands, millions and so on.
_MULTIPLES = frozenset("kKMBGT")
# Fewer numbers with a word after each, such as 2WD and 4WD, are categories.
_FEW = 5
# What is longer is shortened in sentences.
_LONGEST = 40
_NAMED = 3


ABSENT_MARKS = frozenset(
    {
        "",
        "-",
        ".",
        "?",
        "n/a",
        "#n/a",
        "#n/a n/a",
        "na",
        "#na",
        "nan",
        "-nan",
        "none",
        "null",
        # As some programs write what is not a number.
        "1.#ind",
        "-1.#ind",
        "1.#qnan",
        "-1.#qnan",
    }
)
"""In small letters, without blanks around them."""


def is_absent(cell: str) -> bool:
    """Tell whether a cell stands for a missing number, whatever its case and the blanks around it.

    Examples
    --------
    >>> [is_absent(cell) for cell in ("-", " N/A ", "None", "", "-5", "nowhere")]
    [True, True, True, True, False, False]
    """
    return cell.strip().lower() in ABSENT_MARKS


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


def marked_number(cells: Iterable[str]) -> str | None:
    """Return a number with a mark, such as 1,000 or $5, if all cells are numbers and one has any.

    Units are the same in all cells, or multiples such as k and M; words need five numbers.

    Examples
    --------
    >>> marked_number(["950", "1,234.5", "-"]), marked_number(["1,234", "a"])
    ('1,234.5', None)
    >>> marked_number(["950", "1 234"]), marked_number(["030 123"]), marked_number(["7", "-8.5"])
    ('1 234', None, None)
    >>> [marked_number([text, "?", text]) for text in ("$ 3,504", "12.5%", "7 \u20ac")]
    ['$ 3,504', '12.5%', '7 \u20ac']
    >>> marked_number(f"{k} mpg" for k in range(9)), marked_number(["2WD", "4WD"])
    ('0 mpg', None)
    >>> marked_number(["19M", "1.2k", "3M", "5k", "7M"]), marked_number(["1st", "2nd"])
    ('19M', None)
    """
    marked: dict[str, str] = {}
    for cell in map(str.strip, cells):
        if is_absent(cell) or is_number(cell):
            continue
        found = _MARKED.fullmatch(cell)
        if found is None:
            return None
        marked[cell] = found["unit"] or ""
    units = {unit for unit in marked.values() if unit}
    words = any(unit[0].isalpha() for unit in units)
    if (len(units) > 1 and not units <= _MULTIPLES) or (words and len(marked) < _FEW):
        return None
    return next(iter(marked), None)


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
