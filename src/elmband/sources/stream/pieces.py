"""Parts out of whatever a user hands over: a path, an array, a tuple or a table."""

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from elmband.sources.stream.arrays import (
    ArraySource,
    ArraysPart,
    MemoryArray,
    matrix_part,
    tuple_part,
)
from elmband.sources.stream.arrow_file import ArrowPart
from elmband.sources.stream.csv_dialect import CsvDialect
from elmband.sources.stream.csv_file import CsvPart
from elmband.sources.stream.fields import Part
from elmband.sources.stream.files import Found, find_files, kind_of
from elmband.sources.stream.hdf5_file import hdf5_part
from elmband.sources.stream.npy_file import NpyArray
from elmband.sources.stream.parquet_file import ParquetPart
from elmband.sources.stream.tables import (
    SeriesArray,
    TableArray,
    TablePart,
    library_of_series,
    library_of_table,
)
from elmband.sources.stream.zarr_store import zarr_part

_READERS = {
    "npy": lambda path: matrix_part(str(path), NpyArray(path)),
    "hdf5": hdf5_part,
    "zarr": zarr_part,
    "parquet": ParquetPart,
    "arrow": ArrowPart,
}


def is_path(value: Any) -> bool:
    """Tell whether a value names files."""
    return isinstance(value, str | PathLike)


def file_parts(source: str | PathLike[str], asked: CsvDialect) -> list[Part]:
    """Return the files that a path, a glob or a folder stands for; CSV files are as `asked`."""
    return [_file_part(found, Path(source), asked) for found in find_files(source)]


def _file_part(found: Found, source: Path, asked: CsvDialect) -> Part:
    kind = kind_of(found.path) or ""
    part: Part
    if kind == "csv":
        part = CsvPart(found.path, asked)
    else:
        refuse_dialect(asked, str(found.path))
        part = _READERS[kind](found.path)
    part.source, part.layout = source, replace(part.layout, folder_keys=found.keys)
    return part


def refuse_dialect(asked: CsvDialect, label: str) -> None:
    """Refuse to be told how CSV is written where there is none."""
    for option in ("delimiter", "decimal", "encoding"):
        if getattr(asked, option) is not None:
            raise ValueError(
                f"{option}= (--{option}) is for CSV files, and {label} is none; leave it out."
            )


def piece_part(label: str, piece: Any) -> Part:
    """Return an array, a tuple of arrays or a table as a part."""
    if library_of_table(piece):
        return TablePart(label, piece)
    if isinstance(piece, tuple):
        return _tuple(label, piece)
    if not is_array(piece):
        raise ValueError(
            f"{label} is of type {type(piece).__name__}; a piece is an array with two dimensions, "
            "a tuple (X, y) or (X, y, weight) of arrays, or a table."
        )
    return matrix_part(label, MemoryArray(piece))


def _tuple(label: str, piece: tuple[Any, ...]) -> ArraysPart:
    if len(piece) not in {2, 3}:
        raise ValueError(
            f"{label} is a tuple of {len(piece)}; a tuple is (X, y) or (X, y, weight), several "
            "files or pieces are a list."
        )
    if all(is_path(value) for value in piece):
        label = ", ".join(str(path) for path in piece)
    names = ("X", "y", "weight")
    arrays = [_array(label, name, value) for name, value in zip(names, piece, strict=False)]
    return tuple_part(label, arrays)


def _array(label: str, name: str, value: Any) -> ArraySource:
    if is_path(value):
        (path, *_), *others = find_files(value)
        if others or kind_of(path) != "npy":
            raise ValueError(
                f"{label}: {name} is {value}; files in a tuple (X, y) are .npy, one for each, "
                "several files with all columns are a list."
            )
        return NpyArray(path)
    if name == "X" and library_of_table(value):
        return TableArray(label, value)
    if library_of_series(value):
        return SeriesArray(value)
    if name != "X" and isinstance(value, list):
        value = np.asarray(value)
    if not is_array(value):
        raise ValueError(f"{label}: {name} is of type {type(value).__name__}; give an array.")
    return MemoryArray(value)


def is_array(value: Any) -> bool:
    """Tell whether a value is an array, or gives arrays for slices."""
    needed = ("shape", "dtype", "__getitem__")
    # Sparse and masked arrays have these too, but their values do not stand where they seem to.
    odd = hasattr(value, "tocsr") or isinstance(value, np.ma.MaskedArray)
    return all(hasattr(value, name) for name in needed) and not odd
