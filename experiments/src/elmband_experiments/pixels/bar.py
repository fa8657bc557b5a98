"""How far the photos have come."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import TextColumn

from elmband.engines.progress import Bar, Verbose


class PhotoBar(Bar):
    """The bar of the house, which counts photos in the place of rows."""

    def __init__(self, console: Console) -> None:
        super().__init__(console, None)
        self._progress.columns = tuple(
            TextColumn("photos") if getattr(column, "text_format", "") == "rows" else column
            for column in self._progress.columns
        )

    def begin_photos(self, label: str, n_photos: int, nbytes: int | None = None) -> None:
        """Begin a pass over photos, which writes so many bytes."""
        self._nbytes = nbytes
        self.begin(label, n_photos)


@contextmanager
def shown(verbose: Verbose, console: Any = None) -> Iterator[PhotoBar | None]:
    """Give a bar where it is wanted: by default on a terminal only."""
    console = console or Console(stderr=True)
    if verbose is False or (verbose == "auto" and not console.is_terminal):
        yield None
        return
    bar = PhotoBar(console)
    try:
        yield bar
    finally:
        bar.end()
