"""Arrow files and streams (Feather), read record batch by record batch."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import accumulate
from pathlib import Path
from typing import Any

from elmband.sources.stream.batches import BatchesPart, arrow_dtype, arrow_layout, validated
from elmband.sources.stream.errors import guarded, needed, reading

_KIND = "Arrow"
_MAGIC = b"ARROW1"


class ArrowPart(BatchesPart):
    """An Arrow file with an index of its batches, or an Arrow stream without one."""

    kind = _KIND

    def __init__(self, path: Path) -> None:
        with reading(str(path), _KIND), path.open("rb") as file:
            self._is_stream = file.read(len(_MAGIC)) != _MAGIC
        with _opened(path, None, stream=self._is_stream) as reader, reading(str(path), _KIND):
            self.schema = reader.schema
            # Damaged names are no text.
            self._names = self.schema.names
        self._lengths = None if self._is_stream else _lengths(path, self.schema)
        n_rows = None if self._lengths is None else sum(self._lengths)
        super().__init__(arrow_layout(str(path), self.schema, n_rows), (path,))
        self._path = path

    def batches(
        self, names: Sequence[str], start: int = 0, size: int | None = None
    ) -> tuple[int, Iterator[Any]]:
        """Return batches from the one on that has row `start`, where the file has an index."""
        del size
        ends = list(accumulate(self._lengths or (), initial=0))
        k = max(bisect_right(ends, start) - 1, 0)
        return ends[k], guarded(validated(self._from(k, names)), str(self._path), _KIND)

    def _from(self, k: int, names: Sequence[str]) -> Iterator[Any]:
        places = [self._names.index(name) for name in names]
        with _opened(self._path, places, stream=self._is_stream) as reader:
            if self._lengths is None:
                yield from reader
            else:
                yield from map(reader.get_batch, range(k, len(self._lengths)))


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
