"""How a CSV file is written, found in its first lines where nobody says so."""

import csv
import io
from codecs import getincrementaldecoder
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from elmband.sources.stream.csv_bytes import packing_of, unpacked
from elmband.sources.stream.csv_decimal import decimal_of
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
