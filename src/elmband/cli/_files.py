"""Files that commands read and write: paths, or ``-`` for standard input and output."""

import math
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

from elmband import load
from elmband.cli._status import UnkeptError
from elmband.ground.printable import on_one_line
from elmband.sources.encode import TableEncoder

# How files begin that are no CSV; how that is packed is found where it is read.
_BEGINNINGS = {
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\x93NUMPY": ".npy",
    b"\x89HDF\r\n": ".h5",
}
STANDARD = "-"
# Words of sentences that were written for Python, and those of the command line.
_OPTIONS = {
    "missing_target='drop'": "--drop-missing-targets",
    "pos_label=": "--positive ",
    "needs pos_label": "needs --positive of fit",
    "max_fpr needs": "--max-fpr needs",
    "min_precision needs": "--min-precision needs",
}


@contextmanager
def readable(path: str) -> Iterator[str]:
    """Give a path that can be read again and again: standard input is kept in a file first.

    What is wrong with the file is told of by the name that people know it by.
    """
    with ExitStack() as stack:
        file = path
        if path == STANDARD:
            if sys.stdin is None:
                raise OSError("Standard input is closed; there is nothing to read.")
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            file = str(_spooled(sys.stdin.buffer, Path(folder)))
        try:
            yield file
        except UnkeptError:
            raise
        except ValueError as error:
            raise ValueError(in_option_words(str(error)).replace(file, named(path))) from error


def in_option_words(sentence: str) -> str:
    """Name options where a sentence names what does the same in Python.

    Examples
    --------
    >>> in_option_words("max_fpr needs pos_label, the class whose false answers do harm.")
    '--max-fpr needs --positive of fit, the class whose false answers do harm.'
    """
    for words, option in _OPTIONS.items():
        sentence = sentence.replace(words, option)
    return sentence


def _spooled(source: IO[bytes], folder: Path) -> Path:
    """Keep what comes in; its first bytes tell the format, which is CSV otherwise."""
    head = source.read(8)
    if not head:
        raise ValueError("Standard input is empty; there is nothing to read.")
    ending = next((end for begin, end in _BEGINNINGS.items() if head.startswith(begin)), ".csv")
    path = folder / f"input{ending}"
    try:
        with path.open("wb") as file:
            file.write(head)
            shutil.copyfileobj(source, file, 2**20)
    except OSError as error:
        raise OSError(
            f"Standard input could not be kept in {folder.parent}: {error.strerror}; set TMPDIR "
            "to a folder with more space."
        ) from error
    return path


def loaded(path: str) -> Any:
    """Return the model of a file, or of standard input."""
    with readable(path) as file:
        try:
            return _model(load(file), path)
        except ValueError as error:
            raise ValueError(_called(str(error), file, path)) from error


def _model(found: Any, path: str) -> Any:
    """Return a model; what else there may be in such a file is refused."""
    if isinstance(found, TableEncoder):
        raise ValueError(
            f"{named(path)} holds an encoder of tables and no model; elmband fit writes models, "
            "which have their encoder with them."
        )
    return found


def _called(sentence: str, file: str, path: str) -> str:
    """Return a sentence with the name that people know a file by."""
    name = named(path)
    return sentence.replace(file, name[0].upper() + name[1:] if path == STANDARD else name)


@contextmanager
def writable(path: str, ending: str) -> Iterator[Path]:
    """Give a path to write to; what is meant for standard output is copied there at the end."""
    if path != STANDARD:
        yield Path(path)
        return
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / f"output{ending}"
        yield kept
        with kept.open("rb") as file, naming_output():
            shutil.copyfileobj(file, standard_output(), 2**20)
            standard_output().flush()


def standard_output() -> IO[bytes]:
    """Return standard output for bytes."""
    if sys.stdout is None:
        raise OSError("it is closed")
    return sys.stdout.buffer


@contextmanager
def naming_output() -> Iterator[None]:
    """Turn an `OSError` into a sentence on standard output, unless its reader has gone."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise OSError(f"Standard output could not be written: {reason}.") from error


def named(path: str) -> str:
    """Return the name of a file for people."""
    return "standard input" if path == STANDARD else path


def destination(path: str) -> str:
    """Return the name of a file that was written, for people."""
    return "standard output" if path == STANDARD else on_one_line(path)


def plain(value: Any) -> Any:
    """Return numbers and tuples in the types that JSON knows; what is not finite is null."""
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if hasattr(value, "tolist"):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
