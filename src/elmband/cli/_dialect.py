"""How CSV files are written: options that name it, and notes where it is not what most have."""

import shlex
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import typer

from elmband.cli._status import note
from elmband.sources.stream.csv_dialect import DELIMITERS, CsvDialect, asked_dialect
from elmband.sources.stream.csv_file import CsvPart
from elmband.sources.stream.csv_sniff import other_delimiters


def asked_csv(delimiter: str | None, decimal: str | None, encoding: str | None) -> CsvDialect:
    """Return what options say of CSV files."""
    try:
        return asked_dialect(delimiter, decimal, encoding)
    except ValueError as error:
        raise typer.BadParameter(f"--{error}") from error


def tell_dialect(parts: Sequence[Any], asked: CsvDialect, data: str) -> None:
    """Say how CSV files are read where nobody said so and it is not with commas, as UTF-8."""
    if not isinstance(parts[0], CsvPart):
        return
    for part in parts:
        found = part.dialect
        if not found.is_usual and any(_differs(found, asked)):
            note(f"{data} is read as CSV with {found}.")
            return
    others = [] if asked.delimiter else other_delimiters(Path(part.layout.label), found)
    if others:
        words = DELIMITERS[others[0]]
        note(
            f"{data} is read as CSV with {found}; {words} would split its lines as evenly, "
            f"and --delimiter {'tab' if others[0] == chr(9) else repr(others[0])} does so."
        )


def _differs(found: CsvDialect, asked: CsvDialect) -> Iterator[bool]:
    """Yield whether each part of a dialect was found to be unusual rather than asked for."""
    usual = CsvDialect(",", ".", "utf-8")
    for part in ("delimiter", "decimal", "encoding"):
        yield getattr(asked, part) is None and getattr(found, part) != getattr(usual, part)


def tell_names(parts: Sequence[Any], used: Collection[str], data: str) -> None:
    """Say which of the columns to learn from are read as text, since numbers begin with zeros."""
    for name in sorted(parts[0].padded & set(used)):
        option = shlex.quote(f"{name}=number")
        note(
            f"Column {name!r} of {data} has whole numbers that begin with zeros, and is read as "
            f"text: --types {option} if they are amounts."
        )
