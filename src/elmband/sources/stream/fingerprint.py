"""A short text that tells one source and choice of columns from another."""

import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from elmband.sources.stream.fields import Column, Field, Part
from elmband.sources.stream.selection import Selection

# Values of each field in memory that enter the fingerprint.
_SAMPLED_ROWS = 64
# Blocks of a file that do: 4 MiB of a large one, all of a smaller one.
_BLOCK_BYTES = 2**16
_BLOCKS = 64
# Files of a folder whose blocks do.
_SAMPLED_FILES = 64


def digest(content: Any) -> str:
    """Return the SHA-256 of something that JSON can hold."""
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def describe_selection(selection: Selection) -> list[Any]:
    """Return the chosen columns, role by role."""
    return [selection.features, selection.targets, selection.weight, selection.single_output]


def describe_part(part: Part, selection: Selection) -> list[Any]:
    """Return what tells a part from another: stamps and some blocks of files, values of arrays."""
    kinds = [[name, str(part.layout.fields[name].dtype)] for name in selection.fields]
    files = [[path.name, s.size, s.changed, _content(path)] for path, s in part.stamps.items()]
    manner = [part.manner] if part.manner else []
    return [kinds, files or _sample(part, selection), *manner]


def _content(path: Path) -> str:
    """Return a hash of blocks of a file, or of some files of a folder: their times may lie."""
    content = sha256()
    for file in _files(path):
        content.update(str(file.relative_to(path)).encode(errors="surrogateescape"))
        for block in _sampled_blocks(file):
            content.update(block)
    return content.hexdigest()


def _files(path: Path) -> list[Path]:
    """Return a file, or files of a folder at even distances in the order of their names."""
    if not path.is_dir():
        return [path]
    found = sorted(file for file in path.rglob("*") if file.is_file())
    return [found[k] for k in _spread(len(found), _SAMPLED_FILES)]


def _sampled_blocks(path: Path) -> Iterator[bytes]:
    """Yield the first and the last block of a file, and blocks at even distances between."""
    with path.open("rb") as file:
        for k in _spread(-(-path.stat().st_size // _BLOCK_BYTES), _BLOCKS):
            file.seek(k * _BLOCK_BYTES)
            yield file.read(_BLOCK_BYTES)


def _spread(count: int, most: int) -> list[int]:
    """Return so many of the numbers below `count` at even distances, the first and the last too."""
    if count <= most:
        return list(range(count))
    return [k * (count - 1) // (most - 1) for k in range(most)]


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
