"""Lines of CSV, with quotes where they are needed and nowhere else.

Arrow puts all text in quotes, and so numbers that were read as text to stay as they are.
"""

from typing import Any

from elmband.sources.stream.errors import needed

# What ends a cell or a line but within quotes, and spaces that some readers would drop.
_SPECIAL = '[",\r\n]|^\\s|\\s$'
# What a spreadsheet takes for a formula, unless it is a number.
_FORMULA = "^[=+@\t\r\n-]"
_NUMBER = r"(?i)^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^[+-]?(inf|infinity|nan)$"


class CsvWriter:
    """Appends Arrow tables of one schema to a stream of bytes, below a line of names.

    With `escape_formulas`, text that a spreadsheet would compute gets a ``'`` before it, names of
    columns too.
    """

    def __init__(self, stream: Any, schema: Any, *, escape_formulas: bool = False) -> None:
        pa = needed("pyarrow", "A table")
        self._stream, self._escape_formulas = stream, escape_formulas
        self.write(pa.table([pa.array([name]) for name in schema.names], schema.names))

    def write(self, table: Any) -> None:
        """Append rows."""
        compute = needed("pyarrow.compute", "A table")
        columns = zip(table.column_names, table.columns, strict=True)
        cells = [self._cells(*column) for column in columns]
        if len(cells) == 1:
            # Most readers take an empty line for none.
            cells = [compute.if_else(compute.equal(cells[0], ""), '""', cells[0])]
        lines = compute.binary_join_element_wise(*cells, ",")
        self._stream.write("".join(f"{line}\n" for line in lines.to_pylist()).encode())

    def close(self) -> None:
        """Leave the stream to whoever opened it."""

    def _cells(self, name: str, column: Any) -> Any:
        """Return a column as it stands in a file."""
        pa = needed("pyarrow", "A table")
        text = _text(name, column)
        # Numbers, dates and truth values are no text, whatever they begin with.
        if self._escape_formulas and not pa.types.is_primitive(column.type):
            text = _without_formulas(text)
        return _quoted(text)


def _text(name: str, column: Any) -> Any:
    """Return a column as text; what is missing is empty."""
    pa, compute = (needed(module, "A table") for module in ("pyarrow", "pyarrow.compute"))
    try:
        return compute.fill_null(compute.cast(column, pa.string()), "")
    except pa.ArrowException as error:
        raise ValueError(
            f"Column {name!r} is of the type {column.type}, which CSV cannot hold; write Parquet, "
            "or leave the column out."
        ) from error


def _without_formulas(text: Any) -> Any:
    """Put a ``'`` before what a spreadsheet would compute; numbers stay numbers."""
    compute = needed("pyarrow.compute", "A table")
    begins = compute.match_substring_regex(text, _FORMULA)
    formula = compute.and_not(begins, compute.match_substring_regex(text, _NUMBER))
    return compute.if_else(formula, compute.binary_join_element_wise("'", text, ""), text)


def _quoted(text: Any) -> Any:
    """Put quotes around cells that need them."""
    compute = needed("pyarrow.compute", "A table")
    special = compute.match_substring_regex(text, _SPECIAL)
    if not compute.any(special).as_py():
        return text
    doubled = compute.replace_substring(text, '"', '""')
    return compute.if_else(special, compute.binary_join_element_wise('"', doubled, '"', ""), text)
