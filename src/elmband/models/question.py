"""What can be asked of a fitted model about rows: an answer as arrays, and as named columns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from elmband.ground.arrays import Array, to_numpy
from elmband.models.fitted import Fitted

Columns = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Question:
    """What a method asks about a block of rows: functions of modules, which can travel to workers.

    `answer` gives an array (n, ...) or a tuple of such, of a named `kind` if there is one, and
    `columns` turns it into columns (n,) with names. Tables and files have the answer of `table`
    where that says more. Answers that are `typed` keep their types in tables; files of numbers hold
    the place of one of the `words` instead. `series` is the name of a single column in Dask, where
    it is another one.
    """

    method: str
    answer: Callable[[Fitted, Array], Any]
    columns: Callable[[Any], Columns]
    table: Callable[[Fitted, Array], Any] | None = None
    kind: Any = None
    typed: bool = False
    words: Any = None
    series: str = ""

    def named(self, fitted: Fitted, X: Array) -> Columns:
        """Answer a block of rows by columns with names."""
        return self.columns((self.table or self.answer)(fitted, X))


def side_by_side(parts: Columns) -> Columns:
    """Return values (n,) as they are, and values (n, m) output by output."""
    if all(values.ndim == 1 for values in parts.values()):
        return parts
    count = next(iter(parts.values())).shape[1]
    return {
        f"{name}_{output}": values[:, output]
        for output in range(count)
        for name, values in parts.items()
    }


def column(answer: Array, *, name: str) -> Columns:
    """Return an array as a column, or as one for each output."""
    return side_by_side({name: answer})


def fields(answer: Any) -> Columns:
    """Return a named tuple as columns of these names."""
    return side_by_side(answer._asdict())


def as_records(columns: Columns) -> Array:
    """Return columns (n, ...) of any types as one array (n,) of records."""
    there = {name: to_numpy(values) for name, values in columns.items()}
    kinds = [(name, values.dtype, values.shape[1:]) for name, values in there.items()]
    rows = np.empty(len(next(iter(there.values()))), dtype=kinds)
    for name, values in there.items():
        rows[name] = values
    return rows


def as_columns(records: Array) -> Columns:
    """Return records (n,) as columns again."""
    return {name: np.ascontiguousarray(records[name]) for name in records.dtype.names}


def as_numbers(question: Question, columns: Columns, *, names: Sequence[str]) -> Any:
    """Return columns of several types as numbers, side by side."""
    found = []
    for name in names:
        values = to_numpy(columns[name])
        if name == "reason":
            values = np.argmax(values[:, None] == question.words, axis=1)
        elif values.dtype.kind not in "iufb":
            raise ValueError(
                f"{question.method} writes numbers only to such a file, and its {name}s are text; "
                "write a table, such as .parquet or .csv."
            )
        found.append(values.astype(np.float64))
    return np.stack(found, axis=1)
