"""Dates and times of day that are written as text: formats, and how text in them is read.

What a text looks like with 0 for every digit, its shape, tells where year, month and day are.
Shapes are few, so that a format is looked for once for each of them, and all texts of a shape are
read together.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from elmband.ground.arrays import Array

ZONE = "+zone"
"""At the end of the name of a format in which every text says its time zone."""

# What is longer is no date.
_LONGEST = 48
_DIGITS = str.maketrans("123456789", "000000000")
_BEGINS = re.compile(r"0{1,4}[-/. :]|0{8}|[A-Z][a-z]{2}")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_SECONDS = r"(?::(?P<S>00)(?:\.(?P<f>0{1,9}))?)?"
_ISO_TIME = rf"[T ](?P<H>00)(?::(?P<M>00){_SECONDS})?"
_TIME = rf"(?:,? |T)(?P<H>0?0):(?P<M>00){_SECONDS}(?: ?(?P<p>[AaPp])\.?[Mm]\.?)?"
_OFFSET = r" ?(?:Z|UTC|GMT|(?P<s>[+-])(?P<zh>00)(?::?(?P<zm>00))?)"
_ISO_OFFSET = r"(?:Z|(?P<s>[+-])(?P<zh>00)(?::?(?P<zm>00))?)"
_COMPACT_TIME = r"[T ]?(?P<H>00)(?P<M>00)(?P<S>00)?"

_YEAR, _SHORT, _MONTH, _DAY = "(?P<Y>0000)", "(?P<y>00)", "(?P<m>0?0)", "(?P<d>0?0)"
_SEP, _AGAIN = "(?P<sep>[-/.] ?)", "(?P=sep)"
_WEEKDAY = r"(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6}\.?,? )?"
_NAMES = {
    *_MONTHS,
    *(
        [
            "january",
            "february",
            "march",
            "april",
            "june",
            "july",
            "august",
            "september",
            "october",
            "november",
            "december",
        ]
    ),
    "sept",
}
_NAMED = r"(?P<B>[A-Za-z]{3,9})"

_BASES = {
    "iso": "(?P<Y>0000)-(?P<m>00)-(?P<d>00)",
    "ymd": _SEP.join((_YEAR, _MONTH)) + _AGAIN + _DAY,
    "dmy": _SEP.join((_DAY, _MONTH)) + _AGAIN + _YEAR,
    "mdy": _SEP.join((_MONTH, _DAY)) + _AGAIN + _YEAR,
    "dmy2": _SEP.join((_DAY, _MONTH)) + _AGAIN + _SHORT,
    "mdy2": _SEP.join((_MONTH, _DAY)) + _AGAIN + _SHORT,
    "ymd2": _SEP.join((_SHORT, _MONTH)) + _AGAIN + _DAY,
    "named": (
        rf"{_WEEKDAY}(?:{_DAY}[ -]{_NAMED}\.?,?[ -]{_YEAR}"
        r"|(?P<B2>[A-Za-z]{3,9})\.? (?P<d2>0?0),? (?P<Y2>0000))"
    ),
    "named2": rf"{_DAY}([ -]){_NAMED}\.?\2{_SHORT}",
    "compact": "(?P<Y>0000)(?P<m>00)(?P<d>00)",
}
WRITTEN = {
    "iso": "year-month-day",
    "ymd": "year/month/day",
    "dmy": "day/month/year",
    "mdy": "month/day/year",
    "dmy2": "day/month/year of two digits",
    "mdy2": "month/day/year of two digits",
    "ymd2": "year of two digits/month/day",
    "named": "days with names of months",
    "named2": "day-month-year of two digits, with names of months",
    "compact": "yearmonthday",
    "time": "hour:minute",
}
"""What a format looks like, in words."""

TIME = "time"
AUTOMATIC = (*(n for b in _BASES if b != "compact" for n in (b, b + ZONE)), TIME)
"""Formats that are looked for in any column of text."""

# By the orders of rules.ORDERS, and without one.
_OF_ORDER = {
    "": tuple(_BASES),
    "dmy": ("dmy", "dmy2", "named", "named2"),
    "mdy": ("mdy", "mdy2", "named", "named2"),
    "ymd": ("iso", "ymd", "ymd2", "compact"),
}

# Numbers such as those of versions have dots or dashes, and few digits.
_CAREFUL = re.compile(r"0?0/0?0/00|00\.00\.00|0?0([ -])[A-Za-z]{3,9}\.?\1")

# Years, months and what stands between them, wherever in a text.
_IN_YEARS, _GAP = r"(?:1[89]|2[01])\d\d", "[-/., ]{1,2}"
_IN_MONTHS = rf"(?:0?[1-9]|1[0-2]|(?:{'|'.join(_MONTHS)})[a-z]*\.?)"
_IN_NAMES = rf"(?:{'|'.join(_MONTHS)})[a-z]*\.?"
_LIKE_DATE = re.compile(
    rf"\b{_IN_YEARS}{_GAP}{_IN_MONTHS}\b"
    rf"|\b{_IN_MONTHS}{_GAP}(?:\d\d?{_GAP})?{_IN_YEARS}\b"
    rf"|\b{_IN_NAMES}{_GAP}(?:\d\d?{_GAP})?'?\d\d\b",
    re.IGNORECASE,
)


def looks_like_date(text: str) -> bool:
    """Tell whether people would take a text for a date, in whatever form.

    Examples
    --------
    >>> [looks_like_date(text) for text in ("2014-02", "Feb-14", "4/27/2013 EST", "May 5, '14")]
    [True, True, True, True]
    >>> [looks_like_date(text) for text in ("123-45-6789", "2001", "1.10.3", "Marble 7")]
    [False, False, False, False]
    """
    return len(text) <= _LONGEST and _LIKE_DATE.search(text) is not None


def formats_of(order: str) -> tuple[str, ...]:
    """Return the formats that a column may have whose order a user named; "" leaves that open.

    >>> formats_of("dmy")
    ('dmy', 'dmy+zone', 'dmy2', 'dmy2+zone', 'named', 'named+zone', 'named2', 'named2+zone')
    """
    return tuple(name for base in _OF_ORDER[order] for name in (base, base + ZONE))


def order_of(name: str) -> str:
    """Return the order of day, month and year in a format, and whether it has a zone.

    >>> order_of("iso"), order_of("dmy2"), order_of("mdy+zone")
    ('ymd', 'dmy', 'mdy+zone')
    """
    base = name.removesuffix(ZONE)
    order = {"iso": "ymd", "compact": "ymd"}.get(base, base.removesuffix("2"))
    return order + name[len(base) :]


def read_dates(
    levels: Sequence[str], names: Collection[str], *, careful: bool = False
) -> dict[str, Array]:
    """Return texts as datetime64[us] (n,), by the formats that any of them has; NaT for others.

    Where it is to be `careful`, what may be the number of a version is no date. Times with a zone
    are those of UTC, times of day are on the first day of 1970.
    """
    found: dict[str, Array] = {}
    for shape, texts, places in _by_shape(levels):
        known: dict[tuple[tuple[str, int, int], ...], Array] = {}
        for name, layout in _layouts(shape, careful):
            if name not in names:
                continue
            if layout.fields not in known:
                known[layout.fields] = _times(texts, layout)
            if name not in found:
                found[name] = np.full(len(levels), "NaT", dtype="M8[us]")
            found[name][places] = known[layout.fields]
    return {name: times for name, times in found.items() if not np.isnat(times).all()}


def _by_shape(levels: Sequence[str]) -> Iterator[tuple[str, list[str], list[int]]]:
    """Yield shapes that dates may have, with the texts of each and their places."""
    groups: dict[str, tuple[list[str], list[int]]] = {}
    for place, level in enumerate(levels):
        if len(level) > _LONGEST:
            continue
        text = level.strip()
        shape = text.translate(_DIGITS)
        if shape not in groups:
            groups[shape] = [], []
        texts, places = groups[shape]
        texts.append(text)
        places.append(place)
    for shape, (texts, places) in groups.items():
        if _BEGINS.match(shape) and shape.isascii():
            yield shape, texts, places


class _Layout(NamedTuple):
    """Where the parts of a date stand in texts of a shape, and the letters among them."""

    fields: tuple[tuple[str, int, int], ...]
    shape: str


@cache
def _pattern(name: str) -> re.Pattern[str]:
    if name == TIME:
        half = r"(?P<H2>0?0):(?P<M2>00)(?::(?P<S2>00))? ?(?P<p>[AaPp])\.?[Mm]\.?"
        return re.compile(rf"(?P<H>00):(?P<M>00){_SECONDS}|{half}")
    base = name.removesuffix(ZONE)
    time = {"iso": _ISO_TIME, "compact": _COMPACT_TIME}.get(base, _TIME)
    offset = _ISO_OFFSET if base == "iso" else _OFFSET
    zoned = f"{time}{offset}" if name.endswith(ZONE) else f"(?:{time})?"
    return re.compile(_BASES[base] + zoned)


@lru_cache(10_000)
def _layouts(shape: str, careful: bool) -> tuple[tuple[str, _Layout], ...]:  # noqa: FBT001
    """Return the formats that a shape fits; `careful` ones are no numbers of versions."""
    found = []
    for name in dict.fromkeys((*AUTOMATIC, *formats_of("ymd"))):
        match = _pattern(name).fullmatch(shape)
        if match is None or (careful and "2" in name and not _CAREFUL.match(shape)):
            continue
        spans = {g: match.span(g) for g, text in match.groupdict().items() if text is not None}
        layout = _Layout(tuple((g[0] if g[-1] == "2" else g, *s) for g, s in spans.items()), shape)
        if "B" not in match.groupdict() or _month(layout) is not None:
            found.append((name, layout))
    return tuple(found)


def _month(layout: _Layout) -> int | None:
    """Return the number of the month whose name is in a shape, from 1 on, None without such."""
    start, stop = next((s, e) for g, s, e in layout.fields if g == "B")
    name = layout.shape[start:stop].lower()
    return _MONTHS.index(name[:3]) + 1 if name in _NAMES else None


def _times(texts: list[str], layout: _Layout) -> Array:
    """Return texts of one shape as dates, NaT for those that no calendar has."""
    letters = np.frombuffer("".join(texts).encode("ascii"), np.uint8)
    digits = letters.reshape(len(texts), -1).astype(np.int64) - ord("0")
    part = {}
    for group, start, stop in layout.fields:
        powers = 10 ** np.arange(stop - start)[::-1]
        part[group] = digits[:, start:stop] @ powers
    zero = np.zeros(len(texts), dtype=np.int64)
    days, valid = _days(part, layout) if "d" in part else (zero, np.ones(len(texts), dtype=bool))
    hour, minute, second = (part.get(name, zero) for name in "HMS")
    hour, in_range = _hours(hour, layout)
    valid = valid & in_range & (minute < 60) & (second < 60)
    times = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1_000_000
    if "f" in part:
        n_digits = next(stop - start for group, start, stop in layout.fields if group == "f")
        times = times + part["f"] * 10**9 // 10**n_digits // 1000
    if "zh" in part:
        offset, in_range = _offset(part, layout)
        times, valid = times - offset, valid & in_range
    return np.where(valid, times.astype("M8[us]"), np.datetime64("NaT"))


def _days(part: dict[str, Array], layout: _Layout) -> tuple[Array, Array]:
    """Return days since 1970, and whether there are such days."""
    # As POSIX has it: 69 is 1969, 68 is 2068.
    year = part["Y"] if "Y" in part else part["y"] + np.where(part["y"] < 69, 2000, 1900)
    month = part["m"] if "m" in part else np.full(len(year), _month(layout))
    valid = (month >= 1) & (month <= 12) & (year >= 1)
    months = (year - 1970) * 12 + np.where(valid, month, 1) - 1
    first, after = (
        m.astype("M8[M]").astype("M8[D]").astype(np.int64) for m in (months, months + 1)
    )
    day = part["d"]
    return first + day - 1, valid & (day >= 1) & (day <= after - first)


def _hours(hour: Array, layout: _Layout) -> tuple[Array, Array]:
    """Return hours from 0 to 23, and whether they are such; AM and PM count to 12."""
    half = next((layout.shape[s].lower() for group, s, _ in layout.fields if group == "p"), "")
    if not half:
        return hour, hour < 24
    return hour % 12 + 12 * (half == "p"), (hour >= 1) & (hour <= 12)


def _offset(part: dict[str, Array], layout: _Layout) -> tuple[Array, Array]:
    """Return by how many microseconds clocks are ahead of UTC, and whether any are."""
    minute = part.get("zm", np.zeros_like(part["zh"]))
    sign = next(
        -1 if layout.shape[s] == "-" else 1 for group, s, _ in layout.fields if group == "s"
    )
    valid = (part["zh"] < 24) & (minute < 60)
    return sign * (part["zh"] * 60 + minute) * 60_000_000, valid
