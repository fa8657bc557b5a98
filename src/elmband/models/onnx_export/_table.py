"""The encoder of a model within its graph: one input for each column of a table."""

from collections.abc import Iterable

import numpy as np

from elmband.models.onnx_export._calendar import calendar_parts, known_times
from elmband.models.onnx_export._graph import WHOLE, Graph, Port, Tensor, joined, where
from elmband.models.onnx_export._inputs import missing_text, text_of
from elmband.models.onnx_export._time_units import in_wrong_unit
from elmband.sources.encode.state import (
    EncoderState,
    LevelsColumn,
    NumberColumn,
    TimeColumn,
    UsedColumn,
)

_TEXT = np.dtype(object)


def encoded(graph: Graph, state: EncoderState, names: dict[str, str]) -> Tensor:
    """Add an input for every column, by the names given, and return the features (n, d)."""
    dtype = np.dtype(state.dtype)
    # All of them before any operation, whose names must be others.
    inputs = [graph.input(_port(column, names[column.name], dtype)) for column in state.used]
    pairs = zip(inputs, state.used, strict=True)
    return joined([part for given, column in pairs for part in _features(given, column, dtype)])


def input_names(state: EncoderState, taken: Iterable[str]) -> dict[str, str]:
    """Return the names of inputs by those of columns, which they equal where these are free."""
    used = {*taken, ""}
    columns = [column.name for column in state.used]
    found = {name: name for name in columns if name not in used}
    used.update(columns)
    for column in columns:
        if column not in found:
            name = f"column_{column}"
            while name in used:
                name = f"column_{name}"
            found[column] = name
            used.add(name)
    return found


def _port(column: UsedColumn, name: str, dtype: np.dtype[np.generic]) -> Port:
    """Return the input of a column, which says what it takes."""
    if isinstance(column, NumberColumn):
        return Port(name, dtype, ("n",), text_of(column))
    if isinstance(column, LevelsColumn):
        return Port(name, _TEXT, ("n",), text_of(column))
    return Port(name, WHOLE, ("n",), text_of(column))


def _features(given: Tensor, column: UsedColumn, dtype: np.dtype[np.generic]) -> list[Tensor]:
    """Return the features of a column, to be put side by side."""
    if isinstance(column, LevelsColumn):
        return [_levels(given, column, dtype)]
    values = given.apply("Unsqueeze", given.whole(1))
    if isinstance(column, NumberColumn):
        return _numbers(values, column)
    return _times(values, column, dtype)


def _numbers(values: Tensor, column: NumberColumn) -> list[Tensor]:
    missing = values.apply("IsNaN", dtype=np.dtype(np.bool_))
    value = [where(missing, column.mean, values)] if column.varies else []
    return value + ([missing.to(values.dtype)] if column.gaps else [])


def _levels(text: Tensor, column: LevelsColumn, dtype: np.dtype[np.generic]) -> Tensor:
    """Return a row of marks for each text, taken from a table with a row for every level."""
    width = len(column.endings)
    rows = np.eye(width)
    if column.levels:
        # The last row is for texts that no mark stands for.
        rows = np.vstack([rows, column.shares])
        new = width if column.new < 0 else column.new
        known, absent = column.known, width - 1 if column.gaps else new
    else:
        rows, known, new, absent = np.array([[0.0], [1.0]]), {}, 0, 1
    places = text.apply(
        "LabelEncoder",
        dtype=WHOLE,
        domain="ai.onnx.ml",
        keys_strings=(*known, missing_text(column)),
        values_int64s=(*known.values(), absent),
        default_int64=new,
    )
    return text.graph.constant(rows, dtype).apply("Gather", places, axis=0)


def _times(times: Tensor, column: TimeColumn, dtype: np.dtype[np.generic]) -> list[Tensor]:
    missing, known = known_times(times)
    parts = calendar_parts(known) if column.parts else {}
    found = [
        where(missing, mean, parts[part]).to(dtype)
        for part, mean in zip(column.parts, column.means, strict=True)
    ]
    if found:
        found[0] = where(in_wrong_unit(known, column), np.nan, found[0])
    return found + ([missing.to(dtype)] if column.gaps else [])
