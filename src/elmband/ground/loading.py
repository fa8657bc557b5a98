"""Ctrl-C while the command ``elmband`` is still being loaded ends it without a word.

Python would print where it was. Some compiled modules even turn the interruption of their import
into an error of their own, so nothing is raised here: there is nothing yet to be put in order.
"""

import os
import signal
import sys
from threading import current_thread, main_thread
from types import FrameType

INTERRUPTED = 130


def is_command() -> bool:
    """Tell whether this process is the command, as ``elmband`` or as ``python -m elmband``."""
    name = os.path.basename(sys.argv[0]) if sys.argv else ""  # noqa: PTH119 - sooner than pathlib
    if name != "-m":
        return name.partition(".")[0].removesuffix("-script") == "elmband"
    given = sys.orig_argv
    return "-m" in given and given[given.index("-m") + 1 :][:1] == ["elmband"]


def begin() -> None:
    """Let Ctrl-C end this process at once, where it would print a traceback."""
    if (
        current_thread() is main_thread()
        and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    ):
        signal.signal(signal.SIGINT, end_at_once)


def finish() -> None:
    """Give Ctrl-C back to those who put files in order first."""
    if signal.getsignal(signal.SIGINT) is end_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end_at_once(_: int, __: FrameType | None) -> None:
    """End this process, which has nothing to put in order yet."""
    os._exit(INTERRUPTED)


if is_command():
    begin()
