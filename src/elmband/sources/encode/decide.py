"""What a column of text is taken for: categories, numbers or dates."""

import shlex
from typing import NamedTuple

from elmband.sources.encode.dates import WRITTEN, ZONE, looks_like_date, order_of
from elmband.sources.encode.notes import WAY, ColumnNote
from elmband.sources.encode.texts import DateSums, TextSums, WrittenSums
from elmband.sources.encode.value_sums import NothingSums, ValueSums
from elmband.sources.encode.written import marked_number, quoted

# Text of which so many rows hold numbers, and so large a share of those with any value, was meant
# to be numbers.
_ENOUGH, _MOST = 5, 0.8
# Formats of dates that have a type in most tables, or come to have one.
_TYPED = ("iso", "time")


class Decided(NamedTuple):
    """Sums of numbers or dates that text was taken for, None for categories.

    Dates have a `format`, which is empty for one that has a type in most files.
    """

    values: ValueSums | None
    format: str = ""
    note: ColumnNote | None = None


def decided(name: str, sums: TextSums) -> Decided:
    """Return what text is that nobody has chosen to be anything."""
    if sums.written is None or sums.dates is None:
        return Decided(None)
    # The first rows tell of text that is too long to be counted.
    first = (value for _, _, value in sums.written.words.first)
    marked = marked_number([*sums.levels.counts, *first])
    if marked is not None:
        return Decided(None, note=_marked(name, marked))
    if sums.written.n:
        return _numbers(name, sums.written)
    if not sums.dates.n:
        return Decided(None, note=_unread(name, list(sums.levels.counts)))
    return _dates(name, sums.dates)


def _numbers(name: str, written: WrittenSums) -> Decided:
    """Take numbers and marks of their absence for numbers, and refuse numbers with a few words.

    Numbers without any mark were made text on purpose.
    """
    n, words = written.n, written.words
    if not words.n and written.marks:
        said = f"text that is numbers; marks of absence in {written.marks:,} rows are missing"
        return Decided(written.values, note=ColumnNote(name, said))
    if not words.n:
        return Decided(None, note=ColumnNote(name, "numbers, but as text"))
    if n >= _ENOUGH and n >= _MOST * (n + words.n):
        raise ValueError(
            f"{words.label}: column {name!r} holds numbers in {n:,} rows and text in {words.n:,}, "
            f"such as {words}: mend these, or say what the column is by types={{{name!r}: "
            f"'number'}} (text is missing then), 'text' or 'ignore' ({_option(name, 'number')})."
        )
    return Decided(None, note=ColumnNote(name, f"holds numbers in {n:,} rows"))


UNMARKED = "without currencies, units, percent signs and marks after thousands"
"""How numbers are to be written."""


def _marked(name: str, cell: str) -> ColumnNote:
    told = (
        f"has numbers such as {cell} and is read as text: write them {UNMARKED}, or, if the comma "
        "is the decimal point of a CSV file, say so by decimal=',' (--decimal ,)"
    )
    return ColumnNote(name, "numbers with marks, as text", told, is_warning=True)


def _dates(name: str, dates: DateSums) -> Decided:
    """Take dates for such if all rows have them in exactly one order of day, month and year."""
    n, others = dates.n, dates.others
    if others.n:
        return Decided(None, note=_some(name, dates) if n >= _MOST * (n + others.n) else None)
    orders = _orders(dates)
    if len(orders) == 1:
        return _taken(name, next(iter(orders.values())), dates)
    return Decided(None, note=_ambiguous(name, list(orders)) if orders else _mixed(name))


def _orders(dates: DateSums) -> dict[str, str]:
    """Return a format of each order that all rows have."""
    found: dict[str, str] = {}
    for form in dates.formats:
        found.setdefault(order_of(form), form)
    return found


def _taken(name: str, form: str, dates: DateSums) -> Decided:
    base = form.removesuffix(ZONE)
    zone = " with a time zone" if form.endswith(ZONE) else ""
    note = ColumnNote(name, f"text that is dates, {WRITTEN[base]}{zone}")
    return Decided(dates.formats[form], "" if base in _TYPED else form, note)


def date_column(name: str, dates: DateSums) -> Decided:
    """Return dates of a column that a user says holds such; an order that is open is refused."""
    orders = _orders(dates)
    if len(orders) == 1 or not dates.n:
        return _taken(name, next(iter(dates.formats)), dates)
    if not orders:
        raise ValueError(f"Column {name!r} {_MIXED}; write all of them in one.")
    ways = " or ".join(f"types={{{name!r}: 'date:{_plain(order)}'}}" for order in orders)
    options = " or ".join(_option(name, f"date:{_plain(order)}") for order in orders)
    raise ValueError(f"Column {name!r} {_alike(list(orders))}; say which: {ways} ({options}).")


_MIXED = "holds dates in more than one format, or some with a time zone and some without"


def _alike(orders: list[str]) -> str:
    words = " or ".join(WRITTEN[_plain(order)] for order in orders)
    return f"holds dates that may be {words}, as nothing in them tells which"


def _option(name: str, kind: str) -> str:
    """Return what to write in a shell to have a column taken for something."""
    return f"--types {shlex.quote(f'{name}={kind}')}"


def _plain(order: str) -> str:
    return order.removesuffix(ZONE)


def _ambiguous(name: str, orders: list[str]) -> ColumnNote:
    ways = tuple(("types", f"date:{_plain(order)}") for order in orders)
    told = f"{_alike(orders)}: it stays text, {WAY} makes dates of it"
    return ColumnNote(name, "dates whose order is not clear", told, ways, is_warning=True)


def _mixed(name: str) -> ColumnNote:
    told = f"{_MIXED}: it stays text until all are written in one"
    return ColumnNote(name, "dates in several formats", told, is_warning=True)


def _some(name: str, dates: DateSums) -> ColumnNote:
    told = (
        f"holds dates in {dates.n:,} rows and other text in {dates.others.n:,}, such as "
        f"{dates.others}: it stays text until these are mended or empty"
    )
    return ColumnNote(name, f"holds dates in {dates.n:,} rows", told, is_warning=True)


def _unread(name: str, levels: list[str]) -> ColumnNote | None:
    """Return a note on text that looks like dates, in a form that is not read."""
    found = [level for level in levels if looks_like_date(level)]
    if not found or len(found) < _MOST * len(levels):
        return None
    told = (
        f"holds what looks like dates, such as {quoted(found[0])}, in a form that is not read: it "
        "stays text; write them as 2012-01-31 10:20, with Z or +01:00 after it for a time zone"
    )
    return ColumnNote(name, "what looks like dates, as text", told, is_warning=True)


def words_note(name: str, sums: ValueSums) -> ColumnNote | None:
    """Return a note on text that is missing in a column of numbers, None without such text.

    Where no value is a number, the column is refused.
    """
    words = sums.words
    if not words.n:
        return None
    if isinstance(sums, NothingSums):
        raise ValueError(
            f"{words.label}: column {name!r} is to be numbers, and no value of it is one, such as "
            f"{words}: write numbers {UNMARKED}, or leave the column out of types (--types)."
        )
    rows = "1 row" if words.n == 1 else f"{words.n:,} rows"
    told = f"is to be numbers, and holds text in {rows}, such as {words}: it is missing"
    return ColumnNote(name, f"text in {rows} is missing", told, is_warning=True)
