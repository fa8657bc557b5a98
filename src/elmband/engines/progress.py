"""How far long work has come, on a terminal: which pass, rows, MB/s and the time left."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from elmband.ground.printable import on_one_line

# Loaded with the first bar: most calls show none.
if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import TaskID

Verbose: TypeAlias = bool | Literal["auto"]

# Seconds after which a bar appears: shorter work needs none.
_PATIENCE = 1.0


class Bar:
    """A bar for one pass after the other, drawn once the work has lasted a while."""

    def __init__(self, console: "Console", nbytes: int | None) -> None:
        from rich import progress  # noqa: PLC0415 - loaded with the first bar

        self._progress = progress.Progress(
            progress.TextColumn("{task.description}", markup=False),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("rows"),
            progress.TextColumn("{task.fields[rate]}"),
            progress.TimeRemainingColumn(),
            console=console,
            transient=True,
        )
        self._begun = self._pass_begun = monotonic()
        self._nbytes = nbytes
        self._task: TaskID | None = None
        self._number = self._done = 0

    def skip(self) -> None:
        """Count a pass that was finished before."""
        self._number += 1

    def begin(self, label: str, n_rows: int | None, done: int = 0) -> None:
        """Begin a pass, of which some rows may have been done before."""
        self._number += 1
        self._done = done
        if self._task is not None:
            self._progress.remove_task(self._task)
        self._pass_begun = monotonic()
        self._task = self._progress.add_task(
            on_one_line(f"pass {self._number}: {label}"),
            total=n_rows,
            completed=done,
            rate="",
        )

    def advance(self, rows: int) -> None:
        """Count rows of the pass."""
        assert self._task is not None
        task = self._progress.tasks[0]
        seconds = monotonic() - self._pass_begun
        rate = task.fields["rate"]
        if self._nbytes and task.total and seconds > 0:
            fresh = task.completed + rows - self._done
            megabytes = self._nbytes * fresh / task.total / 1e6
            rate = f"{megabytes / seconds:,.0f} MB/s"
        self._progress.update(self._task, advance=rows, rate=rate)
        if not self._progress.live.is_started and monotonic() - self._begun > _PATIENCE:
            self._progress.start()

    def end(self) -> None:
        """Take the bar away."""
        self._progress.stop()


@contextmanager
def shown(verbose: Verbose, nbytes: int | None, console: Any = None) -> Iterator[Bar | None]:
    """Give a bar where it is wanted: by default on a terminal only."""
    if verbose is False:
        yield None
        return
    if console is None:
        from rich.console import Console  # noqa: PLC0415 - as above

        console = Console(stderr=True)
    if verbose == "auto" and not console.is_terminal:
        yield None
        return
    bar = Bar(console, nbytes)
    try:
        yield bar
    finally:
        bar.end()
