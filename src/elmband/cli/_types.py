"""What columns are, and how many levels of text have a feature: options of ``elmband fit``."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import typer

from elmband.cli._codes import Codes, suspected_codes, suspected_dates
from elmband.cli._groups import tell_group_key
from elmband.cli._head import Head, head_of
from elmband.cli._status import note
from elmband.sources.encode import TableEncoder
from elmband.sources.encode.notes import WAY, ColumnNote
from elmband.sources.encode.rules import TYPES


def read_types(texts: Sequence[str]) -> dict[str, str]:
    """Return what columns are, by their names.

    Names may hold commas and equals signs: what a column is follows the last of these.

    >>> read_types(["zip=text,a=b=number", "x,y=ignore"])
    {'zip': 'text', 'a=b': 'number', 'x,y': 'ignore'}
    """
    found: dict[str, str] = {}
    for text in texts:
        begun = ""
        for piece in text.split(","):
            begun = f"{begun},{piece}" if begun else piece
            name, equals, kind = begun.rpartition("=")
            if not equals:
                continue
            if kind not in TYPES:
                raise typer.BadParameter(
                    f"--types {begun!r} says {kind!r}; a column may be {', '.join(TYPES)}."
                )
            if found.get(name, kind) != kind:
                raise typer.BadParameter(f"--types says two things of {name!r}; say one.")
            found[name] = kind
            begun = ""
        if begun:
            raise typer.BadParameter(f"--types {begun!r} says no type; write NAME=TYPE.")
    return found


def read_levels(text: str) -> Any:
    """Return "auto" or a number of levels."""
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise typer.BadParameter(
            f'--max-levels {text!r} is neither "auto" nor a whole number from 1 on.'
        )
    return int(text)


def encoder_for(types: Sequence[str] | None, max_levels: str) -> TableEncoder:
    """Return the encoder that was asked for."""
    return TableEncoder(read_levels(max_levels), types=read_types(types or ()) or None)


def check_types(encoder: TableEncoder, rows: Any, data: str) -> None:
    """Refuse what is said of a table without names."""
    if rows.encoder is None and (encoder.types or encoder.max_levels != "auto"):
        raise ValueError(
            f"--types and --max-levels are for tables whose columns have names: Parquet, CSV or "
            f"Arrow, which {data} is not."
        )


def check_roles(encoder: TableEncoder, **taken: str | None) -> None:
    """Refuse what is said of columns that are no features."""
    for role, name in taken.items():
        if name is not None and name in (encoder.types or {}):
            raise ValueError(f"--types names {name!r}, which is the {role} and no feature.")


def tell_columns(rows: Any, groups: str | None, *, classes: bool) -> None:
    """Say of columns what people may not expect, and which look like something else."""
    if rows.encoder is None:
        return
    key = tell_group_key(rows) if groups is None else None
    said = rows.encoder.types or {}
    head, state = head_of(rows), rows.encoder.state_
    codes = (one for one in suspected_codes(head) if one.name != key and one.name not in said)
    dates = (one for one in suspected_dates(head) if one[0] not in said)
    notes = (*state.notes, *map(_suspicion, codes), *(_date_note(*one) for one in dates))
    if not classes:
        _tell_two_values(head)
    # The summary of the model tells it too.
    rows.encoder.state_ = replace(state, notes=notes)
    for one in notes:
        if one.told:
            note(one.sentence(options=True))


def _suspicion(codes: Codes) -> ColumnNote:
    told = (
        f"holds {codes.levels:,} whole numbers that look like codes rather than quantities: {WAY} "
        "makes each a category"
    )
    return ColumnNote(codes.name, "looks like codes", told, (("types", "text"),))


def _date_note(name: str, number: int) -> ColumnNote:
    told = f"holds whole numbers such as {number} that look like dates: {WAY} makes dates of them"
    return ColumnNote(name, "looks like dates", told, (("types", "date"),))


def _tell_two_values(head: Head) -> None:
    """Say of a target of two whole numbers how it is taken for classes."""
    y = head.targets()
    values = [] if y is None else np.unique(y).tolist()
    if len(values) == 2 and all(value.is_integer() for value in values):
        note(
            f"The target takes two values, {values[0]:.0f} and {values[1]:.0f}, and is learned as "
            "a number: --classes if these are classes."
        )
