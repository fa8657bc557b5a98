"""Lines of CSV, with quotes where they are needed and nowhere else.

Arrow puts all text in quotes, and so numbers that were read as text to stay as they are.
"""

from typing import Any

from elmband.stream.errors import needed

# What ends a cell or a line but within quotes, and spaces that some readers would drop.
_SPECIAL = '[",\r\n]|^\\s|\\s$'


class CsvWriter:
    """Appends Arrow tables of one schema to a stream of bytes, below a line of names."""

    def __init__(self, stream: Any, schema: Any) -> None:
        pa = needed("pyarrow", "A table")
        self._stream = stream
        self.write(pa.table([pa.array([name]) for name in schema.names], schema.names))

    def write(self, table: Any) -> None:
        """Append rows."""
        compute = needed("pyarrow.compute", "A table")
        cells = [_cells(*column) for column in zip(table.column_names, table.columns, strict=True)]
        if len(cells) == 1:
            # Most readers take an empty line for none.
            cells = [compute.if_else(compute.equal(cells[0], ""), '""', cells[0])]
        lines = compute.binary_join_element_wise(*cells, ",")
        self._stream.writelines(f"{line}\n".encode() for line in lines.to_pylist())

    def close(self) -> None:
        """Leave the stream to whoever opened it."""


def _cells(name: str, column: Any) -> Any:
    """Return a column as it stands in a file; what is missing is empty."""
    pa, compute = (needed(module, "A table") for module in ("pyarrow", "pyarrow.compute"))
    try:
        text = compute.fill_null(compute.cast(column, pa.string()), "")
    except pa.ArrowException as error:
        raise ValueError(
            f"Column {name!r} is of the type {column.type}, which CSV cannot hold; write Parquet, "
            "or leave the column out."
        ) from error
    special = compute.match_substring_regex(text, _SPECIAL)
    if not compute.any(special).as_py():
        return text
    doubled = compute.replace_substring(text, '"', '""')
    return compute.if_else(special, compute.binary_join_element_wise('"', doubled, '"', ""), text)
