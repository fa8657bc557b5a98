"""Files of data sets as columns: one small function for each way in which they are published."""

import gzip
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from elmband_experiments.datasets.table import Columns

Reader: TypeAlias = Callable[[Path], Columns]


def csv_table(path: Path) -> Columns:
    """Read a CSV file with a header, packed by gzip or not."""
    opened: Any = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        header = [name.strip().strip('"') for name in file.readline().split(",")]
        # Numbers of rows, as R writes them, stand in quotes.
        rows = np.genfromtxt(
            (line.replace('"', "") for line in file), delimiter=",", dtype=np.float64, ndmin=2
        )
    return dict(zip(header, rows.T, strict=True))


def npz_table(path: Path, names: Mapping[str, Sequence[str]]) -> Columns:
    """Read arrays of an .npz file; `names` tells the columns of each."""
    with np.load(path, allow_pickle=False) as stored:
        return {
            name: column.astype(np.float64)
            for array, columns in names.items()
            for name, column in zip(columns, np.atleast_2d(stored[array].T), strict=True)
        }


def plain_numbers(path: Path, names: Sequence[str]) -> Columns:
    """Read numbers between blanks without a header; `names` are those of the last columns.

    It may be packed by gzip. Its name does not tell: some servers have it unpacked on the way.
    """
    text = path.read_bytes()
    if text.startswith(b"\x1f\x8b"):
        text = gzip.decompress(text)
    rows = np.loadtxt(text.decode().splitlines(), ndmin=2)[:, -len(names) :]
    return dict(zip(names, rows.T, strict=True))


def arff_table(
    path: Path, codes: Mapping[str, Sequence[str]], renamed: Mapping[str, str]
) -> Columns:
    """Read an ARFF file as OpenML gives it.

    Names become lower case, then what `renamed` says. Words of the columns in `codes` become
    their places in the list there, counted from 1, whatever their case.
    """
    from scipy.io.arff import loadarff  # noqa: PLC0415 (slow to import, rarely needed)

    # OpenML's files are UTF-8, the reader takes text.
    with path.open(encoding="utf-8") as file:
        rows, meta = loadarff(file)
    columns: Columns = {}
    for name in meta.names():
        ours = renamed.get(name.lower(), name.lower())
        columns[ours] = _coded(rows[name], codes[ours], path) if ours in codes else rows[name]
    return columns


def _coded(values: Any, words: Sequence[str], path: Path) -> Any:
    """Return the places of words in a list, from 1; numbers stay what they are."""
    if values.dtype.kind != "S":
        return values
    places = {word: float(k) for k, word in enumerate(words, start=1)}
    found = [value.decode().lower() for value in values]
    unknown = sorted(set(found) - set(places))
    if unknown:
        raise ValueError(f"{path} has the value {unknown[0]}, expected one of {', '.join(words)}.")
    return np.array([places[value] for value in found])
