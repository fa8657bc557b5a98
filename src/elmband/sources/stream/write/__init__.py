"""Results that are computed chunk by chunk, streamed to a file in flat memory."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Protocol, TypeAlias

import numpy as np
from numpy.typing import DTypeLike

from elmband.ground.arrays import Array, to_numpy
from elmband.ground.files import appearing_together, naming
from elmband.sources.stream.errors import needed
from elmband.sources.stream.write._arrow import (
    ArrowFile,
    CsvFile,
    GzipCsvFile,
    IpcFile,
    ParquetFile,
)
from elmband.sources.stream.write._arrow import (
    TableFile as TableFile,
)
from elmband.sources.stream.write._file import SteadyFile
from elmband.sources.stream.write._groups import ColumnGroups, Groups, Rows
from elmband.sources.stream.write._hdf5 import Hdf5File
from elmband.sources.stream.write._npy import NpyFile

Write: TypeAlias = Callable[[Array], None]
WriteColumns: TypeAlias = Callable[[Mapping[str, Array]], None]


class Format(Protocol):
    """A file being written."""

    def write(self, rows: Rows, /) -> None:
        """Append a group of rows."""

    def close(self) -> None:
        """Write what is left to write."""


_FORMATS: dict[str, Callable[[BinaryIO, tuple[str, ...], np.dtype[Any]], Format]] = {
    ".arrow": IpcFile,
    ".csv": CsvFile,
    ".csv.gz": GzipCsvFile,
    ".feather": IpcFile,
    ".h5": Hdf5File,
    ".hdf5": Hdf5File,
    ".ipc": IpcFile,
    ".npy": NpyFile,
    ".parquet": ParquetFile,
}

EXTENSIONS = tuple(_FORMATS)
"""The ends of file names, each of which names a format."""


@contextmanager
def open_writer(
    path: str | Path, columns: Sequence[str], dtype: DTypeLike = np.float64
) -> Iterator[Write]:
    """Open a file for blocks of rows; it appears at `path` when all of them are written.

    After any exception `path` is as it was before. Memory does not grow with the rows: they are
    gathered to groups of about 64 thousand, whatever the size of the blocks.

    Parameters
    ----------
    path : str or Path
        The end of the name chooses the format: .parquet, .npy, .h5 or .hdf5, .csv, .csv.gz,
        .arrow, .feather or .ipc. An existing file is replaced.
    columns : sequence of str
        Names of the k columns. The .npy format has no place for them.
    dtype : float32 or float64
        The type of the numbers in the file.

    Yields
    ------
    callable
        It appends a block of shape (n, k), an array of any library.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "squares.npy")
    ...     with open_writer(path, ["x", "square"]) as write:
    ...         for x in (2, 3):
    ...             write(np.array([[x, x**2]]))
    ...     print(np.load(path).tolist())
    [[2.0, 4.0], [3.0, 9.0]]
    """
    with open_writers([path], columns, dtype) as (write,):
        yield write


@contextmanager
def open_writers(
    paths: Sequence[str | Path], columns: Sequence[str], dtype: DTypeLike = np.float64
) -> Iterator[list[Write]]:
    """Open several files as `open_writer` does, which are one result: they appear together.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     paths = [Path(folder, name) for name in ("even.npy", "odd.npy")]
    ...     with open_writers(paths, ["x"]) as writers:
    ...         for x in range(4):
    ...             writers[x % 2](np.array([[x]]))
    ...     print([np.load(path).ravel().tolist() for path in paths])
    [[0.0, 2.0], [1.0, 3.0]]
    """
    files, names, kind = [*map(Path, paths)], _checked_names(columns), _checked_dtype(dtype)

    def begin(file: BinaryIO, path: Path) -> tuple[Format, Groups]:
        target = format_of(path)(file, names, kind)
        return target, Groups(target.write, names, kind)

    for path in files:
        format_of(path)
    with _opened(files, begin) as writers:
        yield writers


@contextmanager
def open_table_writer(path: str | Path, like: Mapping[str, Array]) -> Iterator[WriteColumns]:
    """Open a file for blocks of columns of any types, which are those of `like`.

    It appears as that of `open_writer` does. The format must be one that `holds_any_type`.
    """
    arrow = needed("pyarrow", "Writing Parquet, CSV or Arrow")
    schema = arrow.table({name: to_numpy(values) for name, values in like.items()}).schema
    make: Any = format_of(Path(path))

    def begin(file: BinaryIO, _: Path) -> tuple[Format, ColumnGroups]:
        target = make(file, tuple(like), np.dtype(np.float64), schema)
        return target, ColumnGroups(target.write_columns, tuple(like))

    with _opened([Path(path)], begin) as (write,):
        yield write


@contextmanager
def open_table_files(
    paths: Sequence[str | Path], *, escape_formulas: bool = False
) -> Iterator[list[Callable[[Any], None]]]:
    """Open files for Arrow tables as `open_writers` does, with the columns of the first of each.

    With `escape_formulas`, text in CSV that a spreadsheet would compute gets a ``'`` before it.
    """

    def begin(file: BinaryIO, path: Path) -> tuple[TableFile, TableFile]:
        target = TableFile(file, path.name, escape_formulas=escape_formulas)
        return target, target

    with _opened([*map(Path, paths)], begin) as writers:
        yield writers


@contextmanager
def _opened(
    paths: Sequence[Path], begin: Callable[[BinaryIO, Path], tuple[Any, Any]]
) -> Iterator[list[Callable[[Any], None]]]:
    """Open files under other names, which take these once all is written.

    What `begin` returns are a format, and what gathers blocks for it.
    """
    with appearing_together(paths) as temporary, ExitStack() as stack:
        places = zip(paths, temporary, strict=True)
        yield [stack.enter_context(_opened_one(*place, begin)) for place in places]


@contextmanager
def _opened_one(
    path: Path, temporary: Path, begin: Callable[[BinaryIO, Path], tuple[Any, Any]]
) -> Iterator[Callable[[Any], None]]:
    """Write blocks to a file under another name than `path`."""
    with SteadyFile(temporary) as file:
        with _failing_as(path, file):
            target, groups = begin(file, path)

        def write(block: Any) -> None:
            with _failing_as(path, file):
                groups.add(block)

        with _closed(path, file, target):
            yield write
            with _failing_as(path, file):
                groups.flush()


def holds_any_type(path: str | Path) -> bool:
    """Tell whether a file of this name has a place for text, beside numbers."""
    make = format_of(Path(path))
    return isinstance(make, type) and issubclass(make, ArrowFile)


@contextmanager
def _closed(path: Path, file: SteadyFile, target: Format) -> Iterator[None]:
    """Close a file once everything is written, or whatever went wrong."""
    try:
        yield
    except BaseException:
        with suppress(Exception):
            target.close()
        raise
    with _failing_as(path, file):
        target.close()
        file.close()


@contextmanager
def _failing_as(path: Path, file: SteadyFile) -> Iterator[None]:
    """Let the first failure of the file win over what a library made of it."""
    with naming(path):
        try:
            yield
        finally:
            file.check()


def format_of(path: Path) -> Callable[[BinaryIO, tuple[str, ...], np.dtype[Any]], Format]:
    """Return the format that the name of a file tells, or refuse it."""
    for extension, make in _FORMATS.items():
        if path.name.lower().endswith(extension):
            return make
    raise ValueError(f"{path} ends in none of the known extensions: {', '.join(EXTENSIONS)}.")


def _checked_names(columns: Sequence[str]) -> tuple[str, ...]:
    names = () if isinstance(columns, str) else tuple(columns)
    texts = all(isinstance(name, str) and name for name in names)
    if not names or not texts or len(set(names)) < len(names):
        raise ValueError(f"columns is {columns!r}, expected a list of names, no two alike.")
    return names


def _checked_dtype(dtype: DTypeLike) -> np.dtype[Any]:
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = None
    if kind not in {np.dtype(np.float32), np.dtype(np.float64)}:
        raise ValueError(f"dtype is {dtype!r}, expected float32 or float64.")
    return kind
