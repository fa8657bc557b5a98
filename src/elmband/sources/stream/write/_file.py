"""The file under a writer."""

from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Any


class SteadyFile(FileIO):
    """A file that does not fail in the middle of what a library does with it.

    Where a write fails under it, HDF5 is left with a file that it cannot close: it raises something
    else, or crashes at exit. Here the first failure is kept for `check` to raise, what is written
    after it is dropped, and the library can close as usual.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, "w+b")
        self._failure: BaseException | None = None

    def write(self, data: Any, /) -> int:
        """Write all the data, unless something has failed."""
        everything = memoryview(data).cast("B")
        with self._failing_later():
            rest = everything
            while rest and self._failure is None:
                rest = rest[super().write(rest) :]
        return len(everything)

    def truncate(self, size: int | None = None, /) -> int:
        """Set the length of the file, unless something has failed."""
        size = self.tell() if size is None else size
        with self._failing_later():
            if self._failure is None:
                super().truncate(size)
        return size

    def check(self) -> None:
        """Raise the first failure, if there was one."""
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def _failing_later(self) -> Iterator[None]:
        try:
            yield
        except BaseException as failure:  # noqa: BLE001 - an interrupt is kept as well
            self._failure = failure
