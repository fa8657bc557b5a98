"""A short text that tells one source and choice of columns from another."""

import json
from hashlib import sha256
from typing import Any

import numpy as np

from elmband.stream.fields import Column, Field, Part
from elmband.stream.selection import Selection

# Values of each field in memory that enter the fingerprint.
_SAMPLED_ROWS = 64


def digest(content: Any) -> str:
    """Return the SHA-256 of something that JSON can hold."""
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def describe_selection(selection: Selection) -> list[Any]:
    """Return the chosen columns, role by role."""
    return [selection.features, selection.targets, selection.weight, selection.single_output]


def describe_part(part: Part, selection: Selection) -> list[Any]:
    """Return what tells a part from another: files by their stamps, arrays by some values."""
    kinds = [[name, str(part.layout.fields[name].dtype)] for name in selection.fields]
    files = [[path.name, s.size, s.changed] for path, s in part.stamps.items()]
    return [kinds, files or _sample(part, selection)]


def _sample(part: Part, selection: Selection) -> list[Any]:
    """Return the number of rows and a hash of values at even distances."""
    content, n_rows = sha256(), 0
    for block in part.blocks(selection.fields, 0):
        n_rows += block.n_rows
        for k in np.linspace(0, block.n_rows - 1, min(block.n_rows, _SAMPLED_ROWS)).astype(int):
            for field in block.fields.values():
                content.update(_bytes(field, int(k)))
    return [n_rows, content.hexdigest()]


def _bytes(field: Field, row: int) -> bytes:
    """Return one row as bytes; what is not numbers, by what the library of the table writes."""
    if isinstance(field, Column) and field.dtype is not None:
        return np.ascontiguousarray(field.rows(row, row + 1)).tobytes()
    columns = field.raw(row, row + 1)
    return b"".join(
        column.tobytes() if _is_plain(column) else str(list(column)).encode() for column in columns
    )


def _is_plain(column: Any) -> bool:
    return isinstance(column, np.ndarray) and column.dtype != object
