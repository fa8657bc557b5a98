"""What can go wrong around a file, told in one sentence."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")

_EXTRAS = {"pyarrow": "parquet", "h5py": "hdf5", "zarr": "zarr"}


def needed(module: str, label: str) -> Any:
    """Import an optional library at its first use, or say which command installs it."""
    library = module.partition(".")[0]
    try:
        return import_module(module)
    except ImportError as error:
        raise ImportError(
            f"{label} needs {library}, which is missing: pip install 'elmband[{_EXTRAS[library]}]'"
        ) from error


_LONG_LINE = "a line is longer than 1 MB, the most that is read; a quote may have been left open"
_RAGGED = (
    r"line \1 has another number of cells (\3) than the first (\2); mend it, or take out "
    r"lines that are no rows"
)
_LONGEST = 200
# What Arrow says, and what that means for whoever has the file.
_MEANINGS = (
    (r"straddling object straddles two block boundaries", _LONG_LINE),
    (
        r"cannot infer number of columns",
        "it is empty, or its first line is longer than 1 MB, the most that is read",
    ),
    (r"Empty CSV file", "it is empty"),
    (
        r"(?:Row #(\d+): )?Expected (\d+) columns, got (\d+)",
        _RAGGED,
    ),
    (r"zlib inflate failed", "it is no gzip file, or a damaged one"),
    (r"bz2 decompress failed", "it is no bz2 file, or a damaged one"),
    (r"ZSTD decompress failed", "it is no zstd file, or a damaged one"),
    (r"Truncated compressed stream", "it is packed, and its end is missing"),
    (r"'utf-8' codec can't decode|Invalid UTF-?8", "it holds text that is not in UTF-8"),
    (r"'([\w-]+)' codec can't decode", r"it holds text that is not in its encoding (\1)"),
)


def in_our_words(said: str) -> str:
    """Return what a library says against a file in words for people, or else its first line.

    Examples
    --------
    >>> in_our_words("CSV parse error: Row #3: Expected 2 columns, got 1: 2").partition(";")[0]
    'line 3 has another number of cells (1) than the first (2)'
    """
    for pattern, words in _MEANINGS:
        found = re.search(pattern, said)
        if found:
            return found.expand(words).replace("line  has", "a line has")
    # A damaged file may be quoted at any length.
    line = said.splitlines()[0].strip()[:_LONGEST]
    return "".join(filter(str.isprintable, line)).rstrip(" .:")


@contextmanager
def reading(label: str, kind: str) -> Iterator[None]:
    """Turn whatever a library says about a file it cannot read into a sentence."""
    try:
        yield
    except Exception as error:
        # Arrow is out of memory where a damaged file asks for any amount of it.
        is_arrow = type(error).__name__ == "ArrowMemoryError"
        if isinstance(error, MemoryError | ImportError) and not is_arrow:
            raise
        said = in_our_words(str(error) or type(error).__name__)
        raise ValueError(
            f"{label} cannot be read as {kind}, it may be damaged or incomplete: {said}."
        ) from error


def guarded(items: Iterator[T], label: str, kind: str) -> Iterator[T]:
    """Yield what a library reads from a file, its errors as sentences."""
    while True:
        with reading(label, kind):
            item = next(items, None)
        if item is None:
            return
        yield item
