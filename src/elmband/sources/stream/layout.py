"""What a file or a piece holds: fields of one or several columns, by name."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

DType: TypeAlias = np.dtype[Any]
Form: TypeAlias = Literal["table", "matrix", "store", "tuple"]

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)


@dataclass(frozen=True)
class FieldInfo:
    """What is known of a field before any of its rows is read.

    Attributes
    ----------
    name : str
        Column of a table, data set of a file, or part of a tuple.
    width : int or None
        Number of columns; None for one dimension.
    dtype : dtype or None
        None where the values are not numbers.
    kind : str
        Type in the words of the library that reads it, for sentences.
    n_rows : int or None
        None where only reading tells.
    names : tuple of str or None
        Names of the columns of a field that has several.
    odd : int
        Place of the first column that does not hold numbers, where `dtype` is None.
    """

    name: str
    width: int | None
    dtype: DType | None
    kind: str
    n_rows: int | None = None
    names: tuple[str, ...] | None = None
    odd: int = 0

    @property
    def columns(self) -> int:
        """Number of columns."""
        return 1 if self.width is None else self.width


@dataclass(frozen=True)
class Layout:
    """The fields of one file or piece.

    A table has named columns, a matrix has columns without names in a single field, a store has
    named arrays of one or two dimensions, and the fields of a tuple are X, y and weight. Folders
    of the file may be named after further columns, as in ``year=2024``, which are not read.
    """

    label: str
    form: Form
    fields: dict[str, FieldInfo]
    folder_keys: tuple[str, ...] = ()

    def column(self, key: "Key") -> str:
        """Return the words for a column."""
        field = self.fields.get(key.field)
        if field is not None and field.names is not None:
            return f"column {field.names[key.column]!r}"
        if self.form == "table":
            return f"column {key.field!r}"
        if self.form == "matrix":
            return f"column {key.column}"
        name = f"data set {key.field!r}" if self.form == "store" else key.field
        return name if field is None or field.width is None else f"column {key.column} of {name}"

    def rows(self, names: Iterable[str]) -> int | None:
        """Return the number of rows that the named fields have, all of them as many."""
        counts = {name: self.fields[name].n_rows for name in names}
        first, *others = counts
        for name in others:
            if counts[name] != counts[first]:
                raise ValueError(
                    f"{self.label}: {first} has {counts[first]} rows, {name} has {counts[name]}; "
                    "they must be as many."
                )
        return counts[first]


class Key(NamedTuple):
    """A column: the field it is part of, and its place there."""

    field: str
    column: int


def table_layout(label: str, fields: Sequence[FieldInfo]) -> Layout:
    """Return the layout of a table, whose columns must have different names."""
    names = [field.name for field in fields]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"{label} has two columns named {twice!r}; rename one of them.")
    return Layout(label, "table", {field.name: field for field in fields})


def numbers(dtype: Any) -> DType | None:
    """Return a NumPy dtype if its values are real numbers or booleans, else None."""
    try:
        found = None if dtype is None else np.dtype(dtype)
    except TypeError:
        return None
    return found if found is not None and found.kind in "biuf" else None


def row_dtype(dtypes: Iterable[DType]) -> DType:
    """Return the dtype of rows with these columns.

    Float32 represents every value of float32, float16, booleans and integers of at most 16 bits;
    anything else needs float64.
    """
    return FLOAT32 if all(np.can_cast(d, FLOAT32) for d in dtypes) else FLOAT64


def listed(names: Sequence[str], limit: int = 20) -> str:
    """Return names for a sentence, the first few of many."""
    more = f" and {len(names) - limit} more" if len(names) > limit else ""
    return ", ".join(repr(name) for name in names[:limit]) + more
