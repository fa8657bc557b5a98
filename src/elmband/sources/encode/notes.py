"""What became of a column that people may not expect, and how to have it otherwise."""

import shlex
from dataclasses import dataclass

WAY = "{way}"
"""Stands in a sentence for what to write to have a column encoded otherwise."""


class ColumnWarning(UserWarning):
    """Something about a column that people should know when an encoder is fitted."""


@dataclass(frozen=True)
class ColumnNote:
    """Something about a column.

    Attributes
    ----------
    name : str
        Of the column.
    summary : str
        A few words, for a table of all columns.
    told : str
        What follows the name of the column in a sentence; empty where it goes without saying.
    ways : tuple of pairs
        Parameters of the encoder with a value, for `WAY` in that sentence: types of the column, or
        a number of levels.
    is_warning : bool
        Whether it is to be told in Python too.
    """

    name: str
    summary: str
    told: str = ""
    ways: tuple[tuple[str, str], ...] = ()
    is_warning: bool = False

    def sentence(self, *, options: bool = False) -> str:
        """Return a sentence, with options of the command line or parameters of Python.

        >>> note = ColumnNote("when", "", "is odd; {way} says what it is", (("types", "date:dmy"),))
        >>> note.sentence(options=True)
        "'when' is odd; --types when=date:dmy says what it is."
        >>> note.sentence()
        "Column 'when' is odd; types={'when': 'date:dmy'} says what it is."
        """
        ways = " or ".join(self._way(*way, options=options) for way in self.ways)
        name = repr(self.name) if options else f"Column {self.name!r}"
        return f"{name} {self.told.replace(WAY, ways)}."

    def _way(self, parameter: str, value: str, *, options: bool) -> str:
        if parameter == "types":
            if options:
                return f"--types {shlex.quote(f'{self.name}={value}')}"
            return f"types={{{self.name!r}: {value!r}}}"
        return f"--max-levels {value}" if options else f"max_levels={value}"
