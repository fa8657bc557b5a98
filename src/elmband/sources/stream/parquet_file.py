"""Parquet files, read in batches that are smaller than their row groups."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from elmband.sources.stream.batches import arrow_layout, batch_blocks, validated
from elmband.sources.stream.errors import guarded, needed, reading
from elmband.sources.stream.fields import READ_BYTES, Block, Part

_KIND = "Parquet"
# Bytes of a page of levels, by the habits of those who write such files.
_PAGE_BYTES = 2**20


class ParquetPart(Part):
    """A Parquet file; only its footer is read before rows are asked for."""

    def __init__(self, path: Path) -> None:
        with open_parquet(path, 1) as file:
            schema = file.schema_arrow
            layout = arrow_layout(str(path), schema, file.metadata.num_rows)
            texts = {field.name for field in schema if str(field.type).endswith("string")}
            self._texts = texts and _of_few_levels(file.metadata, texts)
        super().__init__(layout, (path,))
        self._path = path

    def blocks(self, names: Sequence[str], start: int) -> Iterator[Block]:
        """Yield batches from the row group on that has row `start`."""
        # Levels of text are stored once in most files, and few are read much faster as such.
        texts = [name for name in names if name in self._texts]
        with open_parquet(self._path, len(names), texts) as file:
            meta = file.metadata
            lengths = [meta.row_group(k).num_rows for k in range(meta.num_row_groups)]
            ends = list(accumulate(lengths, initial=0))
            group = max(bisect_right(ends, start) - 1, 0)
            batches = file.iter_batches(
                batch_size=max(READ_BYTES // (8 * len(names)), 1024),
                row_groups=range(group, len(lengths)),
                columns=list(names),
            )
            found = guarded(validated(batches), str(self._path), _KIND)
            yield from batch_blocks(self.layout, found, names, ends[group])


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


def open_parquet(path: Path, n_columns: int, texts: Sequence[str] = ()) -> Any:
    """Open a file such that columns are read through small buffers, not a row group at once."""
    parquet = needed("pyarrow.parquet", str(path))
    buffer = min(max(2 * READ_BYTES // n_columns, 2**14), 2**18)
    with reading(str(path), _KIND):
        return parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=buffer, read_dictionary=list(texts)
        )
