"""How commands end: statuses that mean something, and failures in one sentence."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, NoReturn

import typer
from rich.console import Console
from typer.core import TyperGroup

from elmband.ground.loading import INTERRUPTED, end_at_once, finish
from elmband.ground.printable import on_one_line, printable
from elmband.sources.encode.notes import ColumnWarning

FAILED, UNKEPT, CLOSED = 1, 3, 141
# By which schedulers end a job, and a terminal that is closed its commands.
_ENDINGS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]

MEANING = (
    "Exit status: 0 done; 1 a problem with data, a model or a file; 2 wrong usage; 3 the data "
    "cannot keep what was asked for, as in --max-error or --tolerance; 130 interrupted; 141 "
    "nobody reads the output any more; 143 (129) told to end (terminal closed). With "
    "status 0 all files are written; with another none is, unless a signal came right after them."
)


class UnkeptError(ValueError):
    """What was asked for is possible, but not with these data."""


class Commands(TyperGroup):
    """All commands, with ends of their own for what Typer ends in other ways."""

    def make_context(self, *arguments: Any, **others: Any) -> Any:
        """Read the options before the name of a command."""
        try:
            with _printable_usage():
                return super().make_context(*arguments, **others)
        except KeyboardInterrupt as error:
            # Older versions of Typer would say that it was aborted, with a status of 1.
            raise typer.Exit(_status_of(error)) from None

    def invoke(self, ctx: Any) -> Any:
        """Run a command."""
        try:
            with _printable_usage():
                found = super().invoke(ctx)
            # What is still in memory is written here, where a failure has a status.
            _flush()
        except KeyboardInterrupt as error:
            raise typer.Exit(_status_of(error)) from None
        except BrokenPipeError:
            _let_go()
            raise typer.Exit(CLOSED) from None
        else:
            return found


@contextmanager
def _printable_usage() -> Iterator[None]:
    """Write out what a terminal would obey in errors that Typer prints: they quote arguments."""
    try:
        yield
    except Exception as error:
        said: Any = error
        if hasattr(said, "format_message"):
            words = said.format_message
            # Typer indents the choices of an option by tabs.
            said.format_message = lambda: printable(words().expandtabs())
        raise


def _let_go() -> None:
    """Throw away what cannot be printed: at the end, Python would try that once more."""
    try:
        _flush()
    except OSError:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, sys.stdout.fileno())
        os.close(nothing)


def _flush() -> None:
    if sys.stdout is not None:  # so it is where the shell closed it
        sys.stdout.flush()


class EndedError(KeyboardInterrupt):
    """A signal asks the command to end: it does so as if it had been interrupted."""

    def __init__(self, status: int) -> None:
        super().__init__()
        self.status = status


def _status_of(error: KeyboardInterrupt) -> int:
    return error.status if isinstance(error, EndedError) else INTERRUPTED


class _Signals:
    """Signals that ask the command to end, remembered: others turn them into ends of their own.

    Modules that are interrupted in their import raise other errors, and Typer ends with the status
    of Ctrl-C where options are being read.

    Attributes
    ----------
    status : int or None
        The status to end with, None where there was no signal.
    """

    status: int | None = None

    def begin(self) -> None:
        """Take over from what ends the command while it is loaded."""
        main = current_thread() is main_thread()
        for number in _ENDINGS if main else ():
            # What is ignored stays ignored, as under nohup.
            if signal.getsignal(number) == signal.SIG_DFL:
                signal.signal(number, self._end)
        finish()
        if main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._interrupt)

    def _end(self, number: int, _: FrameType | None) -> NoReturn:
        # Who asks twice does not want to wait for files to be put in order.
        signal.signal(number, signal.SIG_DFL)
        self.status = 128 + number
        raise EndedError(self.status)

    def _interrupt(self, number: int, frame: FrameType | None) -> NoReturn:
        self.status = INTERRUPTED
        signal.default_int_handler(number, frame)


@contextmanager
def loading() -> Iterator[None]:
    """Let signals end the process at once while modules are loaded: nothing is to be put in order.

    Modules that are interrupted in their import raise whatever they like.
    """
    numbers = [signal.SIGINT, *_ENDINGS]
    ours = {n: found for n in numbers if _is_ours(found := signal.getsignal(n))}
    for number in ours:
        signal.signal(number, end_at_once if number == signal.SIGINT else signal.SIG_DFL)
    try:
        yield
    finally:
        for number, found in ours.items():
            signal.signal(number, found)


def _is_ours(handler: Any) -> bool:
    return isinstance(getattr(handler, "__self__", None), _Signals)


@contextmanager
def ending() -> Iterator[None]:
    """Turn expected failures into a sentence and a status, and warnings into notes."""
    signals = _Signals()
    try:
        # Only from here on are signals caught.
        signals.begin()
        warnings.filterwarnings("ignore", category=RuntimeWarning)
        # Told as notes, with options of the command line in them.
        warnings.filterwarnings("ignore", category=ColumnWarning)
        warnings.showwarning = _Notes()
        yield
    except KeyboardInterrupt as error:
        sys.exit(_status_of(error))
    except SystemExit as error:
        if error.code == INTERRUPTED and signals.status is not None:
            sys.exit(signals.status)
        raise
    except UnkeptError as error:
        _complain(str(error))
        sys.exit(UNKEPT)
    except (ImportError, OSError, ValueError) as error:
        if signals.status is not None:
            sys.exit(signals.status)
        _complain(_sentence(error))
        _let_go()
        sys.exit(FAILED)


def _sentence(error: Exception) -> str:
    """Return the words of an error; those of the system alone get the name of their file."""
    if not isinstance(error, OSError) or not error.strerror:
        return str(error)
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror}."


class _Notes:
    """Says what warnings say, each sentence once, without the line of code that it comes from.

    Rows that are read twice would else be told of twice.
    """

    def __init__(self) -> None:
        self._said: set[str] = set()

    def __call__(self, message: Warning | str, *_: Any, **__: Any) -> None:
        """Say it."""
        if str(message) not in self._said:
            self._said.add(str(message))
            note(str(message))


def note(sentence: str) -> None:
    """Say something on standard error that people should know, and that stops nothing."""
    _print(f"Note: {sentence}", "yellow")


def _complain(sentence: str) -> None:
    _print(f"Error: {sentence}", "red")


def _print(sentence: str, style: str) -> None:
    # Where nobody listens any more, the status still tells.
    with suppress(OSError):
        console = Console(stderr=True, style=style, soft_wrap=True, highlight=False)
        console.print(on_one_line(sentence), markup=False, emoji=False)
