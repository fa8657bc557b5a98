"""Columns of any kind, read as they are or as the numbers that an encoder makes of them."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from elmband.ground.arrays import Array
from elmband.sources.encode import EncoderState, TableEncoder
from elmband.sources.encode.raw import (
    ColumnError,
    Numbers,
    PlainText,
    Raw,
    RawRows,
    Where,
    Words,
    at,
)
from elmband.sources.encode.read import read_column
from elmband.sources.encode.written import quoted, read_numbers
from elmband.sources.stream.blocks import Reader, kept, runs_of
from elmband.sources.stream.fields import Block, Part
from elmband.sources.stream.layout import FLOAT64, DType, Key, Layout
from elmband.sources.stream.selection import Selection

# Rows that are looked at together when an encoder is fitted.
_STEP = 2**16
# Rows that are worked out together, and values of all their columns: what it takes to find out what
# a column holds does not depend on its length.
_AHEAD, _VALUES_AHEAD = 2**16, 2**21


def raw_names(selection: Selection) -> tuple[str, ...]:
    """Return the names of the features as an encoder knows them."""
    known = selection.names(selection.features)
    return known or tuple(f"x{j}" for j in range(len(selection.features)))


def needed_columns(layout: Layout, encoder: TableEncoder | None) -> list[str] | None:
    """Return the columns to read for an encoder that is fitted; None for all of them."""
    if encoder is None or not hasattr(encoder, "state_") or not encoder.state_.named:
        return None
    is_table = layout.form == "table" or (
        layout.form == "tuple" and layout.fields["X"].names is not None
    )
    return [column.name for column in encoder.state_.used] if is_table else None


def described_features(n_columns: int, encoder: TableEncoder | None) -> str:
    """Return the number of features in words, without a pass to learn it."""
    state = getattr(encoder, "state_", None)
    count = n_columns if state is None else len(state.names)
    what = "feature" if encoder is None or state is not None else "column"
    later = "" if what == "feature" else " to encode"
    return f"{count} {what}{'s' if count > 1 else ''}{later}"


class RawReader(Reader):
    """Reads the features as they are, and targets and weights checked.

    A single target is looked at as it is too: it may be text.
    """

    def __init__(self, selection: Selection, dtype: DType = FLOAT64, *, gaps: bool) -> None:
        super().__init__(selection, dtype, gaps=gaps)
        self._widths[0] = 0
        self._named = selection.names(selection.features) is not None
        self._columns = dict(zip(raw_names(selection), selection.features, strict=True))
        goals = selection.targets
        self._goal = goals[0] if len(goals) == 1 else None
        self._goal_name = (selection.names(goals) or (goals[0].field,))[0] if goals else ""
        self._runs = runs_of(selection.only(targets=self._goal is None))

    def rows(self, parts: Iterable[Part]) -> Iterator[RawRows]:
        """Yield all rows, some at a time."""
        for block, _ in self._blocks(parts, 0):
            for first in range(0, block.n_rows, _STEP):
                yield self._rows(block, first, min(first + _STEP, block.n_rows))

    def _rows(self, block: Block, first: int, stop: int) -> RawRows:
        out = self._empty(stop - first)
        self._copy(block, first, stop, out)
        goal = self._raw_goal(block, first, stop)
        if goal is not None:
            out[1][:, 0] = np.where(goal.missing, np.nan, 0.0)
        self._check(block, first, out)
        columns = _raw_columns(block, self._columns, first, stop)
        where = _where(block, first, stop)
        return RawRows(where, columns, goal, self._goal_name, _weights(out), self._named)

    def _raw_goal(self, block: Block, first: int, stop: int) -> Raw | None:
        if self._goal is None:
            return None
        with at(_where(block, first, stop), self._goal_name):
            return read_column(block.fields[self._goal.field].raw(first, stop)[self._goal.column])


class _WorkedOut(NamedTuple):
    """Rows of a block: their targets, and what their features are written from."""

    block: Block
    first: int
    stop: int
    goal: Array | None
    parts: list[Array]


class EncodedReader(RawReader):
    """Reads chunks whose features an encoder has made.

    Parameters
    ----------
    selection : Selection
        The columns; those of the features may be none, to read targets and weights only.
    state : EncoderState
        Of the fitted encoder.
    gaps : bool
        Whether targets may be missing.
    """

    def __init__(self, selection: Selection, state: EncoderState, *, gaps: bool) -> None:
        used = _used(selection, state) if selection.features else {}
        selection = selection.only(features=tuple(used.values()), targets=True)
        super().__init__(selection, np.dtype(state.dtype), gaps=gaps)
        self._widths[0] = len(state.names) if used else 0
        self._columns, self._state = used, state
        self._known: _WorkedOut | None = None

    def _copy(self, block: Block, first: int, stop: int, out: list[Array]) -> None:
        super()._copy(block, first, stop, out)
        known = self._worked_out(block, first, stop)
        rows = slice(first - known.first, stop - known.first)
        if known.goal is not None:
            out[1][:, 0] = known.goal[rows]
        if self._columns:
            kept_here = kept(*out[1:]) if self._gaps else None
            parts = [part[rows] for part in known.parts]
            self._state.write(parts, _where(block, first, stop), out[0], kept_here)

    def _worked_out(self, block: Block, first: int, stop: int) -> "_WorkedOut":
        """Return what is known of these rows; if they are new, of as many after them as well."""
        known = self._known
        if (
            known is None
            or known.block is not block
            or not known.first <= first <= stop <= known.stop
        ):
            ahead = min(_AHEAD, _VALUES_AHEAD // max(len(self._columns), 1))
            stop = max(stop, min(first + ahead, block.n_rows))
            goal, parts = self._raw_goal(block, first, stop), []
            where = _where(block, first, stop)
            if goal is not None:
                with at(where, self._goal_name):
                    goal = self._codes(goal)
            if self._columns:
                columns = _raw_columns(block, self._columns, first, stop)
                parts = self._state.work_out(columns, where)
            known = self._known = _WorkedOut(block, first, stop, goal, parts)
        return known

    def _codes(self, goal: Raw) -> Array:
        target = self._state.target
        # Text is one of the levels whatever the column is called; numbers may be something else.
        if target is not None and (target.name == self._goal_name or isinstance(goal, Words)):
            return target.codes(goal)
        if isinstance(goal, Numbers) and goal.kind == "numbers":
            return goal.values
        if goal.missing.all():
            return np.full(len(goal.missing), np.nan)
        if isinstance(goal, Words):
            return _numbers_in(goal)
        raise ColumnError(f"holds {goal.kind}; a target is a column of numbers or of text.")


def _numbers_in(goal: Words) -> Array:
    """Return a target of text as the numbers that it is, missing where it is a mark of absence."""
    values, absent = read_numbers(goal.levels)
    rows = np.append(np.isnan(values) & ~absent, False)[goal.codes]
    if rows.any():
        row = int(np.flatnonzero(rows)[0])
        raise ColumnError(
            f"holds {quoted(goal.levels[goal.codes[row]])}, which is not a number, and there are "
            "no classes: mend it, or fit the encoder on a scan with this target.",
            row,
        )
    return np.append(values, np.nan)[goal.codes]


def _used(selection: Selection, state: EncoderState) -> dict[str, Key]:
    """Return the columns that a fitted encoder needs."""
    label = selection.layout.label
    if not state.named:
        if len(selection.features) != len(state.columns):
            raise ValueError(
                f"{label} has {len(selection.features)} features, but the encoder was fitted on "
                f"{len(state.columns)}; choose them with features=[...]."
            )
        keys = {f"x{j}": key for j, key in enumerate(selection.features)}
    else:
        keys = dict(zip(raw_names(selection), selection.features, strict=True))
    for column in state.used:
        if column.name not in keys:
            raise ValueError(
                f"{label} has no feature {column.name!r}, on which the encoder was fitted; give "
                "it the same columns."
            )
    return {column.name: keys[column.name] for column in state.used}


def _where(block: Block, first: int, stop: int) -> Where:
    return Where(block.layout.label, block.first + first, stop - first)


def _raw_columns(block: Block, columns: Mapping[str, Key], first: int, stop: int) -> dict[str, Any]:
    """Return columns by name; a field is read once, even where it has several of them."""
    fields = dict.fromkeys(key.field for key in columns.values())
    found = {name: block.fields[name].raw(first, stop) for name in fields}
    for name in fields:
        # Text of files may be read as a dictionary; where they hold one, that was a choice.
        if block.layout.fields[name].kind in {"string", "large_string"}:
            found[name] = [PlainText(column) for column in found[name]]
    return {name: found[key.field][key.column] for name, key in columns.items()}


def _weights(out: list[Array]) -> Array | None:
    """Return the weights of rows, 0 for those without a target; None where all are 1."""
    _, Y, s = out
    rows = kept(Y, s)
    if s.shape[1]:
        return np.where(rows, s[:, 0], 0.0)
    return None if rows.all() else rows.astype(np.float64)
