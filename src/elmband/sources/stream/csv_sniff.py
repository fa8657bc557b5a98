"""How a CSV file is written, found in its first lines where nobody says so."""

import csv
import io
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from elmband.sources.encode.written import is_absent
from elmband.sources.stream.csv_bytes import packing_of, unpacked
from elmband.sources.stream.csv_dialect import DELIMITERS, UTF8, CsvDialect
from elmband.sources.stream.errors import reading

# Bytes that are looked at: the first block, whose types are those of the columns.
_HEAD = 2**20
# Lines by which cells are counted.
_LINES = 200


def dialect_of(path: Path, asked: CsvDialect) -> CsvDialect:
    """Return how a file is written: what was asked for, and what its first lines tell else."""
    with reading(str(path), "CSV"):
        packing = packing_of(path)
        with unpacked(path, packing) as file:
            head = file.read(_HEAD)
    complete = len(head) < _HEAD
    encoding = asked.encoding or _found_encoding(head)
    text = _text(path, head, encoding, complete=complete, named=asked.encoding is not None)
    delimiter = asked.delimiter or _delimiter(text, _preferred(path), complete=complete)
    decimal = asked.decimal
    if decimal is None:
        # Commas between cells leave none for numbers, unless somebody says so.
        rows = [] if delimiter == "," else _rows(text, delimiter, complete=complete)
        decimal = decimal_of(str(path), rows)
    return replace(asked, delimiter=delimiter, decimal=decimal, encoding=encoding, packing=packing)


def _found_encoding(head: bytes) -> str:
    """Return UTF-8, or what UTF-16 is called: it has a mark, or zeros at every other place.

    Examples
    --------
    >>> [_found_encoding("a,b".encode(name)) for name in ("utf-16", "utf-16-be", "utf-8")]
    ['utf-16', 'utf-16-be', 'utf-8']
    """
    # The first mark of UTF-32 begins like that of UTF-16.
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) and head[2:4] != b"\0\0":
        return "utf-16"
    even, odd = (head[k::2].count(0) for k in (0, 1))
    if 4 * max(even, odd) < len(head) or min(even, odd):
        return UTF8
    return "utf-16-be" if even else "utf-16-le" if odd else UTF8


def _text(path: Path, head: bytes, encoding: str, *, complete: bool, named: bool) -> str:
    """Return the first lines as text; what is none is refused with how to name its encoding."""
    try:
        text = getincrementaldecoder(encoding)().decode(head, complete)
    except UnicodeError:
        text = "\0"
    # Which no text has.
    if "\0" in text:
        other = "another encoding" if named else "its encoding"
        raise ValueError(
            f"{path} is not text in {encoding.upper()}; name {other}, as in encoding='latin-1' "
            "(--encoding latin-1), or save it as CSV in UTF-8."
        )
    return text.removeprefix("\ufeff")


def _preferred(path: Path) -> str:
    return "\t" if ".tsv" in path.suffixes[-2:] else ","


def _records(text: str, delimiter: str, *, complete: bool) -> Iterator[list[str]]:
    """Yield the cells of every line that is not empty, but for the last one if that is cut off."""
    records = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    last: list[str] = []
    for record in records:
        if last:
            yield last
        last = record
    if last and complete:
        yield last


def _delimiter(text: str, preferred: str, *, complete: bool) -> str:
    """Return what splits all lines into as many cells, more than one, or most lines else.

    Of several the preferred one wins, and then the one that makes the most cells.
    """
    text, complete = _first_lines(text, complete=complete)
    found = {mark: _split(text, mark, complete=complete) for mark in DELIMITERS}
    for least in (1.0, 0.5):
        fitting = [mark for mark, (n, share) in found.items() if n > 1 and share >= least]
        if preferred in fitting:
            return preferred
        if fitting:
            return max(fitting, key=lambda mark: found[mark])
    return preferred


def _first_lines(text: str, *, complete: bool) -> tuple[str, bool]:
    """Return no more text than it takes to count cells."""
    lines = text.splitlines(keepends=True)[: _LINES + 1]
    short = "".join(lines)
    return short, complete and len(short) == len(text)


def _split(text: str, delimiter: str, *, complete: bool) -> tuple[int, float]:
    """Return the number of cells of the first line, and the share of lines that have as many."""
    try:
        counts = [len(record) for record in _records(text, delimiter, complete=complete)]
        counts = counts or [len(next(csv.reader([text], delimiter=delimiter), []))]
    except csv.Error:  # such as a cell that is too long
        return 0, 0.0
    return counts[0], counts.count(counts[0]) / len(counts)


def _rows(text: str, delimiter: str, *, complete: bool) -> list[list[str]]:
    """Return the cells below the names of columns, none where they cannot be told apart."""
    try:
        return list(_records(text, delimiter, complete=complete))[1:]
    except csv.Error:
        return []


def other_delimiters(path: Path, dialect: CsvDialect) -> list[str]:
    """Return what would split the first lines of a file as well as its delimiter does."""
    with unpacked(path, dialect.packing) as file:
        head = file.read(_HEAD)
    text = head.decode(dialect.encoding or UTF8, errors="ignore")
    short, complete = _first_lines(text, complete=len(head) < _HEAD)
    found = {mark: _split(short, mark, complete=complete) for mark in DELIMITERS}
    return [m for m, (n, share) in found.items() if n > 1 and share == 1 and m != dialect.delimiter]


_NUMBER = {
    mark: re.compile(rf"[+-]?\d*{re.escape(mark)}?\d+(e[+-]?\d+)?", re.IGNORECASE) for mark in ".,"
}
# Numbers whose only mark may come before three decimals or after thousands.
_DOUBTFUL = {mark: re.compile(rf"[+-]?[1-9]\d{{0,2}}({re.escape(mark)}\d{{3}})+") for mark in ".,"}
_SMALL = re.compile(r"[+-]?\d{1,3}")
# So many of them beside small whole numbers, and none with fewer decimals, come not by chance.
_FEW = 3
# What is a number by one decimal point or the other.
_POINTED = re.compile(r"'?[+-]?\d+([.,])\d+'?")


def decimal_of(label: str, rows: Iterable[Sequence[str]]) -> str:
    """Return the decimal point by which more columns become numbers.

    Where that would be a guess, as it could stand after thousands, the file is refused.
    """
    columns = [_marked(column) for column in zip(*rows, strict=False)]
    commas, points = ([c for c in columns if _is_numeric(c, mark)] for mark in ",.")
    if len(commas) <= len(points):
        grouped = [cell for column in points for cell in _thousands(column)]
        if grouped:
            raise ValueError(
                f"{label} holds numbers such as {grouped[0]}, whose point seems to come after "
                "thousands; write them without it, or say decimal='.' if it does not (--decimal .)."
            )
        return "."
    numbers = [cell for column in commas for cell in column if "," in cell]
    if all(_DOUBTFUL[","].fullmatch(cell) for cell in numbers):
        raise ValueError(
            f"{label} holds numbers such as {numbers[0]}, whose comma may come before decimals or "
            "after thousands; say which with decimal=',' or decimal='.' (--decimal)."
        )
    return ","


def _marked(column: Sequence[str]) -> list[str]:
    """Return the cells that are there of a column, none if no comma or point is in them."""
    if not any("," in cell or "." in cell for cell in column):
        return []
    return [cell.strip() for cell in column if not is_absent(cell)]


def _is_numeric(cells: Sequence[str], mark: str) -> bool:
    """Tell whether most cells are numbers with this decimal point, which one at least has."""
    pattern = _NUMBER[mark]
    if not any(mark in cell and pattern.fullmatch(cell) for cell in cells):
        return False
    return 2 * sum(pattern.fullmatch(cell) is not None for cell in cells) > len(cells)


def _thousands(cells: Sequence[str]) -> list[str]:
    """Return numbers with a point after thousands, none where they may be decimals.

    Examples
    --------
    >>> _thousands(["950", "1.234", "2.500", "12.000"]), _thousands(["950", "1.234", "2.5"])
    (['1.234', '2.500', '12.000'], [])
    """
    pointed = [cell for cell in cells if "." in cell]
    whole = [cell for cell in cells if "." not in cell]
    sure = len(pointed) >= _FEW and whole and all(_SMALL.fullmatch(cell) for cell in whole)
    return pointed if sure and all(_DOUBTFUL["."].fullmatch(cell) for cell in pointed) else []


def other_point(cell: str) -> str | None:
    """Return the point in a cell that could not be read as a number, though it is one by that.

    Examples
    --------
    >>> other_point("1,5"), other_point("'1.5'"), other_point("1,5 km")
    (',', '.', None)
    """
    found = _POINTED.fullmatch(cell)
    return found[1] if found else None
