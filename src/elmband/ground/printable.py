r"""Text from data as it can be printed: what a terminal would obey is written out.

Names of columns, levels and files may hold anything. A terminal takes some characters for orders:
to clear itself, to name its window, to go back and write over what it has shown, to turn the
direction of text. Shown as ``\x1b`` or ``\u202e`` they do nothing, and people see that they are
there.
"""

import re

# C0 and C1 controls and DEL; separators of lines; embeddings, overrides and isolates of direction;
# bytes of file names that are not UTF-8, which Python keeps as surrogates and cannot print.
_OBEYED = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_SHORT = {"\t": r"\t", "\n": r"\n", "\r": r"\r"}


def printable(text: str) -> str:
    r"""Return text with control characters written out; lines stay lines.

    Examples
    --------
    >>> print(printable("income \x1b[2J of\r\n[bold] people"))
    income \x1b[2J of\r
    [bold] people
    """
    return "\n".join(map(on_one_line, text.split("\n")))


def on_one_line(text: str) -> str:
    r"""Return a name or a sentence with control characters written out, line breaks included.

    Examples
    --------
    >>> print(on_one_line("income\nError: \u202eemocni"))
    income\nError: \u202eemocni
    """
    return _OBEYED.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    character = found[0]
    code = ord(character)
    return _SHORT.get(character) or (f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}")
