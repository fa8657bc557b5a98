"""Parquet files, read in batches that are smaller than their row groups."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import copy
from itertools import accumulate
from pathlib import Path
from typing import Any, Self

from elmband.sources.stream.batches import BatchesPart, arrow_layout, validated
from elmband.sources.stream.errors import guarded, needed, reading
from elmband.sources.stream.fields import READ_BYTES

_KIND = "Parquet"
# Bytes of a page of levels, by the habits of those who write such files.
_PAGE_BYTES = 2**20


class ParquetPart(BatchesPart):
    """A Parquet file, or one of its row groups; only its footer is read before rows are."""

    kind = _KIND

    def __init__(self, path: Path) -> None:
        with _opened(path, 1) as file:
            self.schema, meta = file.schema_arrow, file.metadata
            layout = arrow_layout(str(path), self.schema, meta.num_rows)
            texts = {field.name for field in self.schema if str(field.type).endswith("string")}
            self._texts = texts and _of_few_levels(meta, texts)
            lengths = (meta.row_group(k).num_rows for k in range(meta.num_row_groups))
            self._ends = list(accumulate(lengths, initial=0))
        super().__init__(layout, (path,))
        self._path, self._groups = path, range(len(self._ends) - 1)

    def batches(
        self, names: Sequence[str], start: int = 0, size: int | None = None
    ) -> tuple[int, Iterator[Any]]:
        """Return batches from the row group on that has row `start`."""
        group = max(bisect_right(self._ends, start) - 1, 0)
        found = validated(self._from(group, list(names), size))
        return self._ends[group], guarded(found, str(self._path), _KIND)

    def _from(self, group: int, names: list[str], size: int | None) -> Iterator[Any]:
        # Levels of text are stored once in most files, and few are read much faster as such.
        texts = [name for name in names if name in self._texts and size is None]
        with _opened(self._path, len(names), texts) as file:
            yield from file.iter_batches(
                batch_size=size or max(READ_BYTES // (8 * len(names)), 1024),
                row_groups=[k for k in self._groups if k >= group],
                columns=names,
            )

    def cut(self) -> list[Self]:
        """Return the row groups, whose places in the file count no more."""
        parts = [copy(self) for _ in self._groups]
        for part, group in zip(parts, self._groups, strict=True):
            part._groups = range(group, group + 1)  # noqa: SLF001 - its own
        return parts


def _of_few_levels(metadata: Any, names: set[str]) -> set[str]:
    """Return the columns whose levels are few in every group of rows, as far as sizes tell.

    All levels of a group that were met stay in memory while it is read as levels. A file has them
    on one page, or, where they are too many for it, writes out what is beyond; then values take
    more than the two bytes that tell 65,536 levels apart.
    """
    few = set(names)
    for k in range(metadata.num_row_groups):
        group = metadata.row_group(k)
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema in few and not _has_few_levels(column):
                few.discard(column.path_in_schema)
    return few


def _has_few_levels(column: Any) -> bool:
    first, values = column.dictionary_page_offset, column.data_page_offset
    small = first is not None and 0 < values - first <= _PAGE_BYTES
    return small and column.total_uncompressed_size <= _PAGE_BYTES + 2 * column.num_values


def _opened(path: Path, n_columns: int, texts: Sequence[str] = ()) -> Any:
    """Open a file such that columns are read through small buffers, not a row group at once."""
    parquet = needed("pyarrow.parquet", str(path))
    buffer = min(max(2 * READ_BYTES // n_columns, 2**14), 2**18)
    with reading(str(path), _KIND):
        return parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=buffer, read_dictionary=list(texts)
        )
