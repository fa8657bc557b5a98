"""Workers for a command: those of a cluster, or processes of this machine."""

import logging
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import typer

from elmband.cli._files import STANDARD
from elmband.cli._model import in_file
from elmband.engines.cluster import Answers, check_folder, write_parts
from elmband.engines.cluster.work import Counted
from elmband.engines.progress import shown
from elmband.sources.stream.file_table import FileTable, TableRows

# Rows that a worker reads and answers at a time.
_ROWS = 65_536
# Seconds to wait for a scheduler, and for its first worker.
_PATIENCE = 10
# What Dask raises where a scheduler or all that is known of a task is gone.
_LOST = ("CommClosedError", "FutureCancelledError", "CancelledError", "TimeoutError")


@contextmanager
def workers_of(workers: int | None, scheduler: str | None) -> Iterator[Any]:
    """Give a client of the workers that were asked for, or None."""
    if workers is not None and scheduler is not None:
        raise ValueError("--workers starts processes here, --scheduler has some: name one of them.")
    if workers is None and scheduler is None:
        yield None
        return
    try:
        from distributed import Client, LocalCluster  # noqa: PLC0415 - an optional library
    except ImportError as error:
        raise ImportError(
            "Workers need Dask, which is missing: pip install 'elmband[dask]'"
        ) from error
    with ExitStack() as stack:
        # What goes wrong is told in one sentence, at the end.
        logging.disable(logging.CRITICAL)
        stack.callback(logging.disable, logging.NOTSET)
        if scheduler is not None:
            client = stack.enter_context(_reached(Client, scheduler))
        else:
            with _without_ctrl_c():
                cluster = LocalCluster(
                    n_workers=workers,
                    threads_per_worker=1,
                    dashboard_address="127.0.0.1:0",
                    host="127.0.0.1",
                    silence_logs=logging.CRITICAL,
                )
                stack.enter_context(cluster)
            client = stack.enter_context(Client(cluster))
        with told_of_workers():
            yield client


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """Start processes that a terminal's Ctrl-C does not reach; that for this one waits meanwhile.

    It goes to all of them at once, and those being loaded would print where they were. The thread
    that starts workers, now and later, has what is blocked here from this one.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # Started later, it would unblock what is blocked here.
    resource_tracker.ensure_running()
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _reached(kind: Any, address: str) -> Any:
    """Return a client of a scheduler that has workers."""
    try:
        client = kind(address, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise ValueError(
            f"There is no Dask scheduler at {address}; give its address as in tcp://host:8786."
        ) from error
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except OSError as error:
        client.close()
        raise ValueError(
            f"The Dask scheduler at {address} has no workers; start some, as in dask worker "
            f"{address}."
        ) from error
    return client


@contextmanager
def told_of_workers() -> Iterator[None]:
    """Turn the end of workers or of their scheduler into a sentence."""
    try:
        yield
    except Exception as error:
        if type(error.__cause__).__name__ in ("KilledWorker", *_LOST):
            raise ValueError(str(error)) from error
        if type(error).__name__ not in _LOST:
            raise
        raise ValueError(
            "The workers, or their scheduler, are gone; begin again where they can be reached."
        ) from error


def seen_from(path: str, scheduler: str | None) -> str:
    """Return a path as workers elsewhere need it, who are in a folder of their own."""
    return path if scheduler is None or path == STANDARD else str(Path(path).absolute())


def check_spread(data: str, scheduler: str | None, outputs: tuple[str, ...] = ()) -> None:
    """Refuse what workers cannot read, and names that are not for a folder of Parquet files."""
    if data == STANDARD and scheduler is not None:
        raise ValueError("Workers elsewhere cannot read standard input; give the name of a file.")
    for name in outputs:
        if not name.lower().endswith(".parquet"):
            raise typer.BadParameter(
                f"Workers write a folder of Parquet files, which {name} cannot be; name it as in "
                "-o result.parquet."
            )
        check_folder(Path(name))


def spread_answers(
    client: Any, table: FileTable, answer: Callable[[TableRows], Answers], out: tuple[str, ...]
) -> Counted:
    """Let workers answer a table and write folders of Parquet files, and count rows and sums."""
    with shown("auto", None) as bar:
        if bar is not None:
            bar.begin("predict", None)
        return write_parts(
            client,
            table.cut(),
            partial(_answered, answer=answer, path=table.label),
            [Path(name) for name in out],
            chunk_size=_ROWS,
            advance=None if bar is None else bar.advance,
        )


def _answered(rows: TableRows, answer: Callable[[TableRows], Answers], path: str) -> Answers:
    """Answer rows of a part, whose place in the whole table is not known."""
    with in_file(path, None):
        return answer(rows)
