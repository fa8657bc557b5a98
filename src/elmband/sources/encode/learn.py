"""From the sums over a column to what an encoder keeps of it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode.calendar import PARTS
from elmband.sources.encode.dates import formats_of
from elmband.sources.encode.decide import Decided, date_column, decided, words_note
from elmband.sources.encode.levels import frequent_levels, levels_column, most_levels
from elmband.sources.encode.notes import ColumnNote
from elmband.sources.encode.raw import (
    ColumnError,
    Nothing,
    Numbers,
    Raw,
    RawRows,
    Times,
    Words,
    at,
    only,
)
from elmband.sources.encode.read import read_column
from elmband.sources.encode.rules import Rules
from elmband.sources.encode.state import (
    DroppedColumn,
    EncodedColumn,
    EncoderState,
    NumberColumn,
    TimeColumn,
)
from elmband.sources.encode.target import TargetKinds, sum_target
from elmband.sources.encode.texts import (
    ColumnSums,
    DateSums,
    TextSums,
    added,
    sum_column,
    sum_dates,
    sum_numbers,
)
from elmband.sources.encode.value_sums import ONE, NothingSums, NumberSums, ValueSums, weight_of
from elmband.sources.encode.words import as_words
from elmband.sources.encode.written import Place

_IGNORED = "ignored"


class TableSums(NamedTuple):
    """Sums over all columns of a table, which may be `named`, and over its target.

    `n_rows` counts rows, whatever their weights, whose exact sum is `weight`.
    """

    columns: dict[str, ColumnSums]
    target: TargetKinds | None
    named: bool
    n_rows: int
    weight: int


def sum_table(rows: Iterable[RawRows], rules: Rules) -> TableSums | None:
    """Sum up all rows with a weight above zero in one pass; None if there are none."""
    total: TableSums | None = None
    for part in rows:
        if total is None:
            rules.check_names(part.columns)
        keep = None if part.s is None else part.s > 0
        if keep is None or keep.any():
            total = _plus(total, part, rules, None if keep is None or keep.all() else keep)
    return total


def _plus(total: TableSums | None, part: RawRows, rules: Rules, keep: Array | None) -> TableSums:
    s = part.s if part.s is None or keep is None else part.s[keep]
    rows = np.arange(part.where.n_rows) if keep is None else np.flatnonzero(keep)
    columns = {}
    for name, values in part.columns.items():
        with at(part.where, name):
            place = Place(part.where.label, rows + part.where.first)
            sums = _sum(values, rules, name, keep, s, place)
            columns[name] = added(None if total is None else total.columns[name], sums)
    n_rows, weight = len(rows), weight_of(len(rows), s)
    if total is not None:
        n_rows, weight = n_rows + total.n_rows, weight + total.weight
    if part.target is None:
        return TableSums(columns, None, part.named, n_rows, weight)
    with at(part.where, part.target_name):
        raw = part.target if keep is None else only(part.target, keep)
        met = sum_target(part.target_name, raw)
        if total is not None and total.target is not None:
            met = total.target + met
    return TableSums(columns, met, part.named, n_rows, weight)


def _sum(
    values: Any, rules: Rules, name: str, keep: Array | None, s: Array | None, place: Place
) -> ColumnSums:
    """Sum up some rows of a column as what a user says that it is, or as what it looks like."""
    kind, order = rules.types.get(name), rules.date_order(name)
    if kind == "ignore":
        return NothingSums(weight_of(len(place.rows), s))
    raw = read_column(values, categorical=kind == "text", mixed=kind is not None)
    raw = raw if keep is None else only(raw, keep)
    if order is not None:
        raw = _date_like(raw)
        if isinstance(raw, Words):
            return sum_dates(raw, s, place, formats_of(order), strict=True)
    if kind == "number":
        if isinstance(raw, Words):
            return sum_numbers(raw, s, place)
        if not isinstance(raw, Numbers | Nothing):
            raise ColumnError(f"holds {raw.kind}, which are no numbers; leave it out of types.")
    if kind == "text" and isinstance(raw, Words):
        raw = replace(raw, chosen=True)
    return sum_column(raw, s, place)


def _date_like(raw: Raw) -> Raw:
    """Return dates as they are, and numbers such as 20120131 as text."""
    if isinstance(raw, Numbers) and raw.kind == "numbers" and not raw.boolean:
        return as_words(raw)
    if not isinstance(raw, Times | Words | Nothing):
        raise ColumnError(f"holds {raw.kind}, which are no dates; leave it out of types.")
    return raw


def learned(sums: TableSums, rules: Rules, parameters: dict[str, Any]) -> EncoderState:
    """Return all that is kept of a table; a table of which nothing is left is refused."""
    n_rows = float(sums.n_rows)
    found = {name: _taken_for(name, column) for name, column in sums.columns.items()}
    columns, notes = _columns(found, sums, rules)
    _check_left(columns, n_rows)
    dtype = rules.dtype
    if dtype == "auto":
        pairs = zip(columns, found.values(), strict=True)
        narrow = all(_is_narrow(column, taken.values) for column, taken in pairs)
        dtype = "float32" if narrow else "float64"
    target = None if sums.target is None else sums.target.learned()
    least = rules.least(n_rows)
    return EncoderState(columns, sums.named, dtype, n_rows, least, target, parameters, notes)


def _taken_for(name: str, sums: ColumnSums) -> Decided:
    if isinstance(sums, TextSums):
        return decided(name, sums)
    if isinstance(sums, DateSums):
        return date_column(name, sums)
    return Decided(sums, note=words_note(name, sums))


def _columns(
    found: dict[str, Decided], sums: TableSums, rules: Rules
) -> tuple[tuple[EncodedColumn, ...], tuple[ColumnNote, ...]]:
    """Return what becomes of each column, and what people should know of it."""
    least = rules.least(sums.n_rows)
    # Only ratios of weights matter: levels count in rows of mean weight.
    unit = sums.weight / ONE / sums.n_rows
    texts = {
        name: column.levels
        for name, column in sums.columns.items()
        if isinstance(column, TextSums) and found[name].values is None
    }
    frequent = {name: frequent_levels(text, least, unit) for name, text in texts.items()}
    most = rules.max_levels
    if most == "auto":
        most = most_levels([len(levels) for levels in frequent.values()], sums.n_rows)
    columns: list[EncodedColumn] = []
    notes: list[ColumnNote | None] = []
    for name, taken in found.items():
        notes.append(taken.note)
        if taken.values is not None:
            columns.append(_column(name, taken, rules))
            continue
        column, note = levels_column(name, texts[name], frequent[name], most, rules, least)
        columns.append(column)
        notes.append(note)
    return tuple(columns), tuple(note for note in notes if note is not None)


def _check_left(columns: tuple[EncodedColumn, ...], n_rows: float) -> None:
    reasons = [f"{c.name!r}, {c.reason}" for c in columns if isinstance(c, DroppedColumn)]
    if len(reasons) == len(columns):
        raise ValueError(
            f"No column is left to learn from in these rows (n_samples = {n_rows:g}): "
            f"{'; '.join(reasons[:5])}{'; ...' if len(reasons) > 5 else ''}."
        )


def _is_narrow(column: EncodedColumn, sums: ValueSums | None) -> bool:
    """Tell whether float32 holds the features of a column without rounding."""
    if isinstance(column, NumberColumn) and column.varies:
        return isinstance(sums, NumberSums) and sums.narrow
    return not isinstance(column, TimeColumn) or not column.parts


def _column(name: str, taken: Decided, rules: Rules) -> EncodedColumn:
    """Return what becomes of numbers and dates."""
    sums, kind = taken.values, rules.types.get(name)
    if kind == "ignore":
        return DroppedColumn(name, "not read", _IGNORED)
    if not isinstance(sums, NumberSums):
        return DroppedColumn(name, "nothing", "it has no values")
    varies, gaps = sums.low < sums.high, sums.missing > 0
    if not varies.any() and not gaps:
        return DroppedColumn(name, sums.kind, "it is constant")
    if sums.kind in {"numbers", "durations"}:
        low, high = float(sums.low[0]), float(sums.high[0])
        varied, words = bool(varies[0]), kind == "number"
        return NumberColumn(name, sums.kind, sums.means[0], varied, gaps, low, high, words)
    return _times(name, sums, taken.format)


def _times(name: str, sums: NumberSums, form: str) -> TimeColumn:
    used = np.flatnonzero(sums.low < sums.high).tolist()
    if sums.kind == "times of day":
        used = [k for k in used if PARTS[k].startswith("hour")]
    return TimeColumn(
        name=name,
        kind=sums.kind,
        zone=sums.zone,
        parts=tuple(PARTS[k] for k in used),
        means=tuple(sums.means[k] for k in used),
        gaps=sums.missing > 0,
        low=float(sums.low[0]),
        high=float(sums.high[0]),
        format=form,
    )
