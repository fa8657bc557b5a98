"""How the values of a column become groups: levels, ranges of numbers, and spans of the calendar.

Text, whole numbers given as labels and columns of few numbers have a group for each value. Other
numbers are cut into ranges of about as many rows each, dates into years, months, days or hours.
What is missing is a group of its own.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from elmband.ground.arrays import Floats, Labels
from elmband.ground.wording import plain, span
from elmband.report.axes import MISSING
from elmband.report.bins import between, feature_edges
from elmband.report.tallies import ByLabel

# Values of a number that have a group each.
MOST_VALUES = 20
# Spans of the calendar, at most.
_MOST_SPANS = 24
# Stands for missing text, which cannot be NaN; nobody writes this character.
NO_TEXT = "\x01"
_UNITS = ("h", "D", "7D", "M", "3M", "Y", "10Y", "100Y")


@dataclass(frozen=True, eq=False)
class Cut:
    """How labels become codes that are counted: as they are, by `edges`, or by `unit` of time.

    Groups are shown in the order of their values where they are `ordered`, else by their rows.
    """

    kind: str
    ordered: bool = False
    edges: Floats | None = None
    unit: str | None = None

    def codes(self, labels: Labels) -> Labels:
        """Return the group of every row as a code; missing labels stay missing."""
        labels = as_kind(labels, self.kind)
        if self.unit is not None:
            return _spans(labels, self.unit)
        if self.edges is None:
            return labels
        bins = np.searchsorted(self.edges, labels, side="left").astype(np.float64)
        return np.where(np.isnan(labels), np.nan, bins)

    def values(self, labels: Labels) -> Floats:
        """Return numbers that groups span, NaN where labels are none."""
        return labels.astype(np.float64) if self.kind == "f" else np.full(len(labels), np.nan)

    def sums(self, values: Floats, labels: Labels) -> ByLabel:
        """Sum values (n, k) of rows with these labels, group by group."""
        return ByLabel.of(self.codes(labels), values, self.values(labels))

    def name(self, code: Any, low: float, high: float) -> str:
        """Write a group by its code and by the numbers that it spans."""
        if is_missing(code):
            return MISSING
        if self.unit is not None:
            return span_name(code, self.unit)
        return span(low, high) if self.edges is not None else label_of(code)


def find_cut(sample: Labels) -> Cut:
    """Choose the cut from a sample of labels: integers are names, whole floats are numbers."""
    kind = sample.dtype.kind
    if kind == "M":
        return Cut(kind, ordered=True, unit=_unit(sample))
    if kind != "f":
        return Cut(kind, ordered=kind in "iub" and len(np.unique(sample)) <= MOST_VALUES)
    known = sample[~np.isnan(sample)]
    few = len(np.unique(known)) <= MOST_VALUES
    if few:
        return Cut(kind, ordered=True)
    return Cut(kind, ordered=True, edges=feature_edges(known))


def as_kind(labels: Labels, kind: str) -> Labels:
    """Return labels of another part of a column as text, numbers or dates, whichever it has.

    A part without any value may be of another kind, and one of mixed cells may be text.
    """
    if labels.dtype.kind == kind:
        return labels
    if kind == "U":
        text = [NO_TEXT if is_missing(label) else label_of(label) for label in labels]
        return np.asarray(text)
    if labels.dtype.kind == "f" and kind == "M":
        return np.full(len(labels), "NaT", "M8[us]")
    if kind == "f" and labels.dtype.kind in "iub":
        return labels.astype(np.float64)
    raise ValueError(
        "The column to group by holds text in some rows and numbers or dates in others; write all "
        "of it as text."
    )


def is_missing(code: Any) -> bool:
    """Tell whether a code stands for rows without a value."""
    return bool(code == NO_TEXT) if isinstance(code, str) else bool(code != code)  # noqa: PLR0124


def label_of(label: Any) -> str:
    """Write a label; whole numbers are often stored as floats.

    Examples
    --------
    >>> label_of(3.0), label_of(0.25), label_of("north")
    ('3', '0.25', 'north')
    """
    value = label.item() if hasattr(label, "item") else label
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return plain(value) if isinstance(value, float) else str(value)


def _unit(sample: Labels) -> str:
    """Return the shortest unit of time that makes few spans."""
    known = sample[~np.isnat(sample)]
    if not len(known):
        return _UNITS[0]
    ends = np.array([known.min(), known.max()])
    for unit in _UNITS:
        first, last = _spans(ends, unit)
        if (last - first) / _step(unit) < _MOST_SPANS:
            return unit
    return _UNITS[-1]


def _step(unit: str) -> Any:
    digits = "".join(filter(str.isdigit, unit))
    return _time(int(digits or 1), unit[len(digits) :])


def _time(count: int, letter: Any) -> Any:
    return np.timedelta64(count, letter)


def _spans(labels: Labels, unit: str) -> Labels:
    """Return the beginnings of spans of the calendar; weeks begin on Mondays."""
    size = int(_step(unit).astype(np.int64))
    # The first of January 1970, from which NumPy counts, was a Thursday.
    shift = 3 if unit == "7D" else 0
    whole = labels.astype(f"M8[{unit[-1]}]")
    count = whole.astype(np.int64) + shift
    found = (count // size * size - shift).astype(whole.dtype)
    return np.where(np.isnat(whole), whole, found)


def span_name(code: Any, unit: str) -> str:
    """Write a span of the calendar by its beginning.

    Examples
    --------
    >>> [span_name(np.datetime64(*part), unit) for part, unit in [
    ...     (("2013-01", "M"), "3M"), (("2013-02-01", "D"), "7D"), (("1990", "Y"), "10Y")]]
    ['Jan to Mar 2013', 'week from 1 Feb 2013', '1990 to 1999']
    """
    first = np.datetime64(code)
    last = first + _step(unit) - _time(1, unit[-1])
    day, end = (moment.astype("M8[s]").item() for moment in (first, last))
    if unit.endswith("Y"):
        return str(day.year) if unit == "Y" else f"{day.year} to {end.year}"
    if unit == "h":
        # Times of day are on the first day of 1970.
        date = "" if day.date().toordinal() == _EPOCH else f"{day.day} {day:%b %Y} "
        return f"{date}{day:%H}:00"
    if unit.endswith("D"):
        return f"{'week from ' if unit == '7D' else ''}{day.day} {day:%b %Y}"
    return f"{day:%b %Y}" if unit == "M" else f"{day:%b} to {end:%b %Y}"


_EPOCH = 719_163


def gaps_before(codes: Labels, unit: str | None) -> list[bool]:
    """Tell before which of rising codes, but for the first, there are some that no row has."""
    if unit is None:
        return between(codes)
    return [bool(step > _step(unit)) for step in np.diff(codes)]
