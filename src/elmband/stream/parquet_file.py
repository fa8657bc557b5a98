"""Parquet files, read in batches that are smaller than their row groups."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from elmband.stream.batches import arrow_layout, batch_blocks, validated
from elmband.stream.errors import guarded, needed, reading
from elmband.stream.fields import READ_BYTES, Block, Part

_KIND = "Parquet"


class ParquetPart(Part):
    """A Parquet file; only its footer is read before rows are asked for."""

    def __init__(self, path: Path) -> None:
        with _open(path, 1) as file:
            schema = file.schema_arrow
            layout = arrow_layout(str(path), schema, file.metadata.num_rows)
        super().__init__(layout, (path,))
        self._path = path
        self._texts = {field.name for field in schema if str(field.type).endswith("string")}

    def blocks(self, names: Sequence[str], start: int) -> Iterator[Block]:
        """Yield batches from the row group on that has row `start`."""
        # Levels of text are stored once in most files, and are read much faster as such.
        texts = [name for name in names if name in self._texts]
        with _open(self._path, len(names), texts) as file:
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


def _open(path: Path, n_columns: int, texts: Sequence[str] = ()) -> Any:
    """Open a file such that columns are read through small buffers, not a row group at once."""
    parquet = needed("pyarrow.parquet", str(path))
    buffer = min(max(2 * READ_BYTES // n_columns, 2**14), 2**18)
    with reading(str(path), _KIND):
        return parquet.ParquetFile(
            path, pre_buffer=False, buffer_size=buffer, read_dictionary=list(texts)
        )
