"""A second look at a table that could not be read, for what people often get wrong."""

import gzip
from pathlib import Path

_SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}


def clearer(sentence: str, path: str) -> str:
    """Return what is wrong with a file in words that help, or else the sentence as it is."""
    if not path.lower().endswith((".csv", ".csv.gz")) or not Path(path).is_file():
        return sentence
    head = _head(path)
    if not head or b"\0" in head:
        return sentence
    if not _is_utf8(head):
        return (
            f"{path} holds text that is not in UTF-8; convert it first, as in iconv -f latin1 -t "
            "utf-8."
        )
    line = head.decode(errors="replace").partition("\n")[0]
    for separator, name in _SEPARATORS.items():
        if "," not in line and separator in line:
            return f"{path} has its columns separated by {name}; write them with commas."
    return sentence


def _head(path: str) -> bytes:
    """Return the first part of a file, nothing where that cannot be read."""
    opened = gzip.open if path.lower().endswith(".gz") else open
    try:
        with opened(path, "rb") as file:
            return bytes(file.read(2**20))
    except (OSError, EOFError):
        return b""


def _is_utf8(head: bytes) -> bool:
    try:
        head.decode()
    except UnicodeDecodeError as error:
        # The end may have been cut in the middle of a letter.
        return error.start >= len(head) - 3 and error.reason == "unexpected end of data"
    return True
