"""CSV files of any dialect, compressed ones too, read as a stream of record batches."""

import re
import shlex
from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmband.sources.stream.batches import BatchesPart, arrow_dtype, arrow_layout
from elmband.sources.stream.csv_dialect import CsvDialect
from elmband.sources.stream.csv_open import csv_columns, open_csv
from elmband.sources.stream.csv_sniff import dialect_of, other_point
from elmband.sources.stream.errors import in_our_words, needed, reading
from elmband.sources.stream.layout import FLOAT64, Layout

# Where pyarrow puts the place of an error; it counts the line of names as row 1.
_PLACE = re.compile(r"(?:In CSV column #(\d+): )?(?:CSV parse error: )?(?:Row #(\d+): )?(.*)")

# What a value is said to be that cannot be read as the type of its column.
_IS_NOT = {
    "bool": "neither true nor false",
    "int64": "not a whole number as those before it",
    "date32": "not a date",
    "timestamp": "not a date",
    "time32": "not a time of day",
}
_ENCODING = (
    "mend that value, or name the encoding of the file, as in encoding='latin-1' "
    "(--encoding latin-1)"
)
_NUMBERS = re.compile(r"[+-]?\d+([.,;|\t][+-]?\d+)+")


class CsvPart(BatchesPart):
    """A CSV file; its first block tells the names and the types of the columns.

    It is written as `asked`, and what that leaves open is found in its first lines: its `dialect`.
    """

    kind = "CSV"

    def __init__(self, path: Path, asked: CsvDialect) -> None:
        self.dialect = dialect_of(path, asked)
        with reading(str(path), self.kind):
            self.schema, self.padded, blank = csv_columns(path, self.dialect)
        if all(map(_is_number, self.schema.names)):
            raise ValueError(
                f"{path} begins with numbers; its first line must hold the names of the columns."
            )
        super().__init__(_as_float64(arrow_layout(str(path), self.schema, None)), (path,))
        self.manner = "" if asked == CsvDialect() else repr(self.dialect)
        self._path, self._gaps, self._chosen = path, True, False
        self._types = {field.name: _later(field.type) for field in self.schema}
        self._take_as_text(blank)

    def with_text(self, names: Collection[str]) -> "CsvPart":
        """Return the same rows with these columns as text."""
        part = copy(self)
        part._take_as_text(names)  # noqa: SLF001 - its own
        return part

    def _take_as_text(self, names: Collection[str]) -> None:
        chosen = {name: field for name, field in self.layout.fields.items() if name in names}
        texts = {n: replace(field, dtype=None, kind="string") for n, field in chosen.items()}
        self.layout = replace(self.layout, fields={**self.layout.fields, **texts})
        self._types = {**self._types, **dict.fromkeys(texts, _text())}

    def is_empty(self, name: str) -> bool:
        """Tell whether a column has no value in the first block."""
        return str(self.schema.field(name).type) == "null"

    def is_date(self, name: str) -> bool:
        """Tell whether a column holds days without a time of day in the first block."""
        return str(self.schema.field(name).type).startswith("date")

    def plain_type(self, name: str) -> Any:
        """Return the type that a column seems to have: whole numbers with zeros first are names."""
        is_text = name in self.padded or self.is_empty(name)
        return "string" if is_text else self.schema.field(name).type

    def with_types(self, types: Mapping[str, Any], *, gaps: bool) -> "CsvPart":
        """Return the same rows with columns of these types; without `gaps` no text is missing."""
        part = copy(self)
        part._types, part._gaps = {**self._types, **types}, gaps  # noqa: SLF001 - its own
        part._chosen = True  # noqa: SLF001 - its own
        return part

    def batches(
        self, names: Sequence[str], start: int = 0, size: int | None = None
    ) -> tuple[int, Iterator[Any]]:
        """Return batches from the beginning: the file has to be read to find a row."""
        del start, size
        return 0, self._read({name: self._types[name] for name in names})

    def _read(self, types: dict[str, Any]) -> Iterator[Any]:
        seen = 0
        try:
            with open_csv(self._path, self.dialect, types, gaps=self._gaps) as (_, batches):
                for batch in batches:
                    yield batch
                    seen += batch.num_rows
        except (ValueError, OSError) as error:
            raise ValueError(f"{self._path}{self._complaint(str(error), seen)}") from error

    def _complaint(self, said: str, seen: int) -> str:
        """Say where a value could not be read, in terms of names and rows counted from 0."""
        column, row, reason = _PLACE.match(said.splitlines()[0]).groups()  # type: ignore[union-attr]
        place = f", row {int(row) - 2}" if row else f" after row {seen}"
        if column is None:
            return f"{place} cannot be read as CSV: {in_our_words(reason)}."
        value = reason.rpartition("invalid value ")[2]
        name = self.schema.names[int(column)]
        is_not = _IS_NOT.get(str(self._types[name]).partition("[")[0], "not a number")
        if "invalid UTF8" in reason:
            return f"{place}: column {name!r} holds bytes that are no text in UTF-8; {_ENCODING}."
        way = self._way_on(name, value, is_not)
        return f"{place}: column {name!r} holds {value}, which is {is_not}; {way}."

    def _way_on(self, name: str, value: str, is_not: str) -> str:
        """Return what to do about a value."""
        if not self._gaps:
            return "mend that value, or write CSV, to which cells are copied as they are"
        other = other_point(value) if is_not == "not a number" else None
        if other is not None:
            return f"name the decimal point with decimal={other!r} (--decimal {other})"
        if self._chosen:
            return "mend that value, or make it empty"
        option = shlex.quote(f"{name}=text")
        return (
            f"mend that value, or take the column as text with types={{{name!r}: 'text'}} "
            f"(--types {option})"
        )


def _later(kind: Any) -> Any:
    """Return the type to read a column as: later rows may have more digits, or times of day."""
    name = str(kind)
    if name == "string":
        return _text()
    if name.startswith(("date", "timestamp")):
        unit = "ns" if name.startswith("timestamp[ns") else "us"
        return needed("pyarrow", "A CSV file").timestamp(unit, getattr(kind, "tz", None))
    return "float64" if arrow_dtype(kind) is not None and name != "bool" else kind


def _text() -> Any:
    pyarrow = needed("pyarrow", "A CSV file")
    return pyarrow.dictionary(pyarrow.int32(), pyarrow.string())


def _as_float64(layout: Layout) -> Layout:
    """Return the layout with all numbers as float64: later rows may have more digits."""
    fields = {
        name: field if field.dtype is None else replace(field, dtype=FLOAT64)
        for name, field in layout.fields.items()
    }
    return replace(layout, fields=fields)


def _is_number(name: str) -> bool:
    """Tell whether a name is a number, or several with marks between them."""
    if _NUMBERS.fullmatch(name):
        return True
    try:
        float(name)
    except ValueError:
        return False
    return True
