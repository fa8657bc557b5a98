"""How a CSV file is written: between cells, its decimal point, its encoding, its packing."""

from codecs import lookup
from dataclasses import dataclass

DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""What may end a cell without being named, and the word for it; the first ones are preferred."""

_NAMES = {"tab": "\t", "\\t": "\t"}
UTF8 = "utf-8"


@dataclass(frozen=True)
class CsvDialect:
    """How CSV files are written; what is None is found in each of them.

    Attributes
    ----------
    delimiter : str or None
        What ends a cell.
    decimal : str or None
        The decimal point: a point or a comma.
    encoding : str or None
        By a name that Python knows.
    packing : str or None
        How the file is compressed; it always tells itself, and None then stands for not at all.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    packing: str | None = None

    def __str__(self) -> str:
        mark = DELIMITERS.get(self.delimiter or "", repr(self.delimiter))
        point = "decimal commas" if self.decimal == "," else "decimal points"
        return f"cells separated by {mark}, {point}, text in {(self.encoding or UTF8).upper()}"

    @property
    def is_usual(self) -> bool:
        """Whether cells are separated by commas, with decimal points, in UTF-8."""
        return (self.delimiter, self.decimal, self.encoding) == (",", ".", UTF8)


def asked_dialect(
    delimiter: str | None = None, decimal: str | None = None, encoding: str | None = None
) -> CsvDialect:
    r"""Return what a user says of CSV files, refused where it cannot be.

    Examples
    --------
    >>> asked_dialect(delimiter="tab", encoding="latin-1")
    CsvDialect(delimiter='\t', decimal=None, encoding='iso8859-1', packing=None)
    """
    if delimiter is not None:
        delimiter = _NAMES.get(delimiter, delimiter)
        if len(delimiter) != 1 or not _may_separate(delimiter):
            raise ValueError(
                "delimiter must be one character such as ',', ';', '|' or tab, and no letter, "
                f"digit, point, sign or quote; got {delimiter!r}."
            )
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ','; got {decimal!r}.")
    return CsvDialect(delimiter, decimal, None if encoding is None else _encoding(encoding))


def _may_separate(mark: str) -> bool:
    return mark == "\t" or (mark.isascii() and mark.isprintable() and not _in_cells(mark))


def _in_cells(mark: str) -> bool:
    return mark.isalnum() or mark in ".+-\"'"


def _encoding(name: str) -> str:
    """Return the name by which an encoding of text is known here."""
    try:
        found = lookup(name)
    except (LookupError, ValueError):
        found = None
    # Such as base64, which makes bytes of bytes.
    if found is None or not found._is_text_encoding:  # noqa: SLF001 - it is documented nowhere else
        raise ValueError(
            f"encoding must be one that Python knows, such as 'latin-1', 'cp1252' or 'utf-16'; got "
            f"{name!r}."
        )
    return UTF8 if found.name == "utf-8-sig" else found.name
