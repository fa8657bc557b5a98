"""Tables that are read chunk by chunk, again and again, and never held as a whole."""

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from math import log2
from operator import index
from typing import Any

from elmband.moments import Chunk
from elmband.stream.blocks import Reader, without_zeros
from elmband.stream.columns import select
from elmband.stream.fields import READ_BYTES, Part
from elmband.stream.files import check_unchanged
from elmband.stream.fingerprint import describe_part, describe_selection, digest
from elmband.stream.layout import DType
from elmband.stream.selection import Selection, check_dtype, check_part, features_dtype
from elmband.stream.sources import PartFunction, PartList, as_source


class Scan:
    """Rows of files, arrays or a function as chunks, which can be iterated again and again.

    Made by :func:`scan`, which describes the parameters. It holds no rows.
    """

    def __init__(
        self,
        source: PartList | PartFunction,
        *,
        target: Any = None,
        features: Any = None,
        weight: Any = None,
        chunk_size: int | None = None,
    ) -> None:
        self._source = source
        self._chosen = (target, features, weight)
        self._chunk_size = None if chunk_size is None else _whole(chunk_size, "chunk_size", 1)
        self._n_rows: int | None = None
        if source.parts:
            self._n_rows = self._count()

    def _count(self) -> int | None:
        """Check all parts, and add up their rows where they are known."""
        counts = []
        for part in self._source.parts:
            check_part(part.layout, self._selection)
            counts.append(part.layout.rows(self._selection.fields))
        known = [count for count in counts if count is not None]
        if len(known) < len(counts):
            return None
        if sum(known) == 0:
            raise ValueError(f"{self._source.title} has no rows; there is nothing to read.")
        return sum(known)

    @cached_property
    def _selection(self) -> Selection:
        for part in self._source:
            return select(part.layout, *self._chosen)
        raise ValueError(f"{self._source.title} has no rows; there is nothing to read.")

    @property
    def n_features(self) -> int:
        """Number of feature columns."""
        return len(self._selection.features)

    @property
    def n_outputs(self) -> int:
        """Number of target columns, 0 without a target."""
        return len(self._selection.targets)

    @property
    def single_output(self) -> bool:
        """Whether the target is one column, not a list of columns."""
        return self._selection.single_output

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """Names of the feature columns, where they have names."""
        return self._selection.names(self._selection.features)

    @property
    def target_names(self) -> tuple[str, ...] | None:
        """Names of the target columns, where they have names."""
        return self._selection.names(self._selection.targets)

    @property
    def has_weights(self) -> bool:
        """Whether rows have weights."""
        return self._selection.weight is not None

    @cached_property
    def dtype(self) -> DType:
        """Dtype of the features in chunks: float32 where it holds all values, else float64."""
        layouts = [part.layout for part in self._source.parts] or [self._selection.layout]
        return max(features_dtype(layout, self._selection) for layout in layouts)

    @property
    def n_rows(self) -> int | None:
        """Number of rows, those of weight 0 included; None where no pass has counted them yet."""
        return self._n_rows

    @property
    def nbytes(self) -> int | None:
        """Size of the files or arrays in bytes; None for a function."""
        sizes = [part.nbytes or 0 for part in self._source.parts]
        return sum(sizes) if sizes else None

    @property
    def chunk_size(self) -> int:
        """Rows of a chunk: by default those whose features take about 4 MiB."""
        if self._chunk_size is not None:
            return self._chunk_size
        rows = READ_BYTES / (self.n_features * self.dtype.itemsize)
        return int(min(max(2 ** round(log2(rows)), 1024), 16384))

    def __iter__(self) -> Iterator[Chunk]:
        return self.chunks()

    def __len__(self) -> int:
        if self.n_rows is None:
            raise TypeError(
                f"{self._source.title} must be read once before its number of rows is known."
            )
        return self.n_rows

    def __repr__(self) -> str:
        source = self._source
        if not source.parts and "_selection" not in vars(self):
            return f"Scan({source.title}, not read yet)"
        rows = "rows not counted yet" if self.n_rows is None else f"{self.n_rows:,} rows"
        files = f"{len(source.parts)} parts, " if len(source.parts) > 1 else ""
        goals = ", ".join(self._selection.layout.column(key) for key in self._selection.targets)
        features = f"{self.n_features} feature{'s' if self.n_features > 1 else ''}"
        return f"Scan({source.title}, {files}{rows}, {features}, target: {goals or 'none'})"

    def chunks(self, chunk_size: int | None = None, start: int = 0) -> Iterator[Chunk]:
        """Read the rows once, in order.

        Chunks are the same whenever and wherever reading begins: they depend on the source and on
        `chunk_size` only. Rows of weight 0 are left out of their chunk, and so are chunks that
        have no others.

        Parameters
        ----------
        chunk_size : int, default=None
            Rows of a chunk; the last one may have fewer.
        start : int, default=0
            Number of chunks to skip. Files other than CSV are not read up to there.

        Yields
        ------
        Chunk
            X (n, n_features) in `dtype`, Y (n, n_outputs) in float64, and weights (n,) or None.
        """
        size = self.chunk_size if chunk_size is None else _whole(chunk_size, "chunk_size", 1)
        return self._chunks(size, _whole(start, "start", 0))

    def _chunks(self, size: int, start: int) -> Iterator[Chunk]:
        self.check_unchanged()
        if not self.has_weights:
            skip, drop = start, 0
        elif self._source.parts:
            skip, drop = self._place(size, start), 0
        else:
            skip, drop = 0, start
        reader = Reader(self._selection, self.dtype)
        filled = without_zeros(reader.chunks(self._parts(), size, skip * size))
        empty = start == 0
        for chunk in islice(filled, drop, None):
            empty = False
            yield chunk
        self._check_end(reader.n_rows, empty=empty)

    def _place(self, size: int, start: int) -> int:
        """Return how many chunks to skip to leave out `start` that have rows with a weight."""
        if start == 0:
            return 0
        reader = Reader(self._selection.only_weight(), self.dtype)
        weights = enumerate(reader.chunks(self._parts(), size, 0), start=1)
        filled = (k for k, (_, _, s) in weights if s.any())
        place = next(islice(filled, start - 1, None), None)
        return -(-reader.n_rows // size) if place is None else place

    def _parts(self) -> Iterator[Part]:
        """Yield the parts; those that a function makes are checked one by one."""
        for part in self._source:
            if not self._source.parts:
                check_part(part.layout, self._selection)
                check_dtype(part.layout, self._selection, self.dtype)
            yield part

    def _check_end(self, n_rows: int, *, empty: bool) -> None:
        self.check_unchanged()
        title = self._source.title
        if self._n_rows is not None and n_rows != self._n_rows:
            raise ValueError(
                f"{title} changed while it was being read: it had {self._n_rows} rows before, now "
                f"it has {n_rows}; every pass must give the same rows."
            )
        if empty:
            what = "no rows with a weight above 0" if n_rows else "no rows"
            raise ValueError(f"{title} has {what}; there is nothing to read.")
        self._n_rows = n_rows

    def check_unchanged(self) -> None:
        """Refuse files whose size or time of change is not what it was at first."""
        for part in self._source.parts:
            check_unchanged(part.stamps)

    def fingerprint(self) -> str:
        """Return a hexadecimal text that differs for other files, values or columns.

        It is made of the names of files without their folder, their sizes and times of change, of
        the chosen columns and their types, and of some values of arrays in memory. Of a function
        only the name is known.
        """
        if isinstance(self._source, PartFunction):
            return digest([self._source.name, repr(self._chosen)])
        parts = [describe_part(part, self._selection) for part in self._source]
        return digest([describe_selection(self._selection), parts])


def scan(
    source: Any,
    *,
    target: Any = None,
    features: Any = None,
    weight: Any = None,
    chunk_size: int | None = None,
) -> Scan:
    """Open a table that need not fit in memory; rows are read only where they are used.

    Parameters
    ----------
    source : path, list, tuple, array, table or callable
        - A path, a glob or a folder of files, or a list of paths. Formats are npy, HDF5
          (``.h5``, ``.hdf5``), Zarr, Parquet, CSV (``.csv``, ``.csv.gz``) and Arrow (``.arrow``,
          ``.feather``, ``.ipc``).
        - A tuple ``(X, y)`` or ``(X, y, weight)`` of ``.npy`` paths or arrays.
        - An array with two dimensions or a table of pandas, Polars or Arrow; or a list of such
          pieces, or of tuples.
        - A function without arguments that returns an iterator of pieces. It is called for every
          pass, and once more for the first piece.
    target : str, int or list of them, default=None
        Column to predict, by name or by index, which may count from the end. A list gives several
        outputs. None is for rows to predict.
    features : str, int or list of them, default=None
        Columns to learn from; all others by default. HDF5 and Zarr files: names of data sets, by
        default the only one that has two dimensions and is not named otherwise.
    weight : str or int, default=None
        Column that counts how often each row is there. Rows of weight 0 are left out.
    chunk_size : int, default=None
        Rows to read at a time; by default those whose features take about 4 MiB.

    Returns
    -------
    Scan
        An iterable of chunks that holds no rows.

    Examples
    --------
    >>> import numpy as np
    >>> rows = scan(np.arange(12.0).reshape(4, 3), target=-1, chunk_size=3)
    >>> rows
    Scan(source, 4 rows, 2 features, target: column 2)
    >>> for X, Y, s in rows:
    ...     print(X.shape, Y.ravel())
    (3, 2) [2. 5. 8.]
    (1, 2) [11.]
    """
    return Scan(
        as_source(source), target=target, features=features, weight=weight, chunk_size=chunk_size
    )


def _whole(value: Any, name: str, least: int) -> int:
    """Return a whole number of at least `least`."""
    try:
        whole = least - 1 if isinstance(value, bool) else index(value)
    except TypeError:
        whole = least - 1
    if whole < least:
        raise ValueError(f"{name} must be a whole number of at least {least}; got {value!r}.")
    return whole
