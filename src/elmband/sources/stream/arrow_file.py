"""Arrow files and streams (Feather), read record batch by record batch."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

from elmband.sources.stream.batches import arrow_dtype, arrow_layout, batch_blocks, validated
from elmband.sources.stream.errors import guarded, needed, reading
from elmband.sources.stream.fields import Block, Part

_KIND = "Arrow"
_MAGIC = b"ARROW1"


class ArrowPart(Part):
    """An Arrow file with an index of its batches, or an Arrow stream without one."""

    def __init__(self, path: Path) -> None:
        with reading(str(path), _KIND), path.open("rb") as file:
            self._is_stream = file.read(len(_MAGIC)) != _MAGIC
        with _opened(path, None, stream=self._is_stream) as reader:
            schema = reader.schema
        self._lengths = None if self._is_stream else _lengths(path, schema)
        n_rows = None if self._lengths is None else sum(self._lengths)
        super().__init__(arrow_layout(str(path), schema, n_rows), (path,))
        self._path, self._names = path, schema.names

    def blocks(self, names: Sequence[str], start: int) -> Iterator[Block]:
        """Yield batches from the one on that has row `start`, where the file has an index."""
        places = [self._names.index(name) for name in names]
        with _opened(self._path, places, stream=self._is_stream) as reader:
            if self._lengths is None:
                batches, first = iter(reader), 0
            else:
                ends = list(accumulate(self._lengths, initial=0))
                k = max(bisect_right(ends, start) - 1, 0)
                batches = (reader.get_batch(j) for j in range(k, len(self._lengths)))
                first = ends[k]
            found = guarded(validated(batches), str(self._path), _KIND)
            yield from batch_blocks(self.layout, found, names, first)


@contextmanager
def _opened(path: Path, columns: Sequence[int] | None, *, stream: bool) -> Iterator[Any]:
    pyarrow, ipc = (needed(name, str(path)) for name in ("pyarrow", "pyarrow.ipc"))
    options = ipc.IpcReadOptions(included_fields=columns)
    with reading(str(path), _KIND):
        file = pyarrow.OSFile(str(path))
    with file:
        with reading(str(path), _KIND):
            opened = ipc.open_stream if stream else ipc.open_file
            reader = opened(file, options=options)
        yield reader


@contextmanager
def open_arrow_file(path: Path, names: Sequence[str]) -> Iterator[Any]:
    """Open a file that has an index of its batches, to read these columns of them."""
    with _opened(path, None, stream=False) as reader:
        places = [reader.schema.get_field_index(name) for name in names]
    with _opened(path, places, stream=False) as reader:
        yield reader


def _lengths(path: Path, schema: Any) -> list[int]:
    """Return the number of rows of every batch, from the column that is read fastest.

    With a memory map its values are not touched, unless they are compressed.
    """
    pyarrow, ipc = (needed(name, str(path)) for name in ("pyarrow", "pyarrow.ipc"))
    sizes = [dtype.itemsize if (dtype := arrow_dtype(f.type)) else 99 for f in schema]
    options = ipc.IpcReadOptions(included_fields=[sizes.index(min(sizes))] if sizes else None)
    with reading(str(path), _KIND), pyarrow.memory_map(str(path)) as file:
        reader = ipc.open_file(file, options=options)
        return [reader.get_batch(k).num_rows for k in range(reader.num_record_batches)]
