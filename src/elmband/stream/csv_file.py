"""CSV files, compressed ones too, read as a stream of record batches."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

from elmband.stream.batches import arrow_dtype, arrow_layout, batch_blocks
from elmband.stream.errors import in_our_words, needed, reading
from elmband.stream.fields import Block, Part
from elmband.stream.layout import FLOAT64, Layout

_KIND = "CSV"
# Bytes that are looked at to tell whether a file is text.
_BEGINNING = 1024

# Where pyarrow puts the place of an error; it counts the line of names as row 1.
_PLACE = re.compile(r"(?:In CSV column #(\d+): )?(?:CSV parse error: )?(?:Row #(\d+): )?(.*)")

# What a value is said to be that cannot be read as the type of its column.
_IS_NOT = {
    "bool": "neither true nor false",
    "timestamp": "not a date",
    "time32": "not a time of day",
    "dictionary<values=string, indices=int32, ordered=0>": "no text in UTF-8",
}


class CsvPart(Part):
    """A CSV file; its first block tells the names and the types of the columns."""

    def __init__(self, path: Path) -> None:
        schema, names = _schema(path)
        if all(_is_number(name) for name in names):
            raise ValueError(
                f"{path} begins with numbers; its first line must hold the names of the columns."
            )
        super().__init__(_as_float64(arrow_layout(str(path), schema, None)), (path,))
        self._path, self._names = path, names
        self._types = {field.name: _later(field.type) for field in schema}

    def with_text(self, names: Collection[str]) -> "CsvPart":
        """Return the same rows with these columns as text."""
        part = copy(self)
        chosen = {name: field for name, field in self.layout.fields.items() if name in names}
        texts = {n: replace(field, dtype=None, kind="string") for n, field in chosen.items()}
        part.layout = replace(self.layout, fields={**self.layout.fields, **texts})
        part._types = {**self._types, **dict.fromkeys(texts, _text())}  # noqa: SLF001 - its own
        return part

    def blocks(self, names: Sequence[str], start: int) -> Iterator[Block]:
        """Yield batches from the beginning: the file has to be read to find a row."""
        del start
        types = {name: self._types[name] for name in names}
        yield from batch_blocks(self.layout, self._batches(types), names)

    def _batches(self, types: dict[str, Any]) -> Iterator[Any]:
        seen = 0
        try:
            with open_csv(self._path, types) as reader:
                for batch in reader:
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
        name = self._names[int(column)]
        is_not = _IS_NOT.get(str(self._types[name]).partition("[")[0], "not a number")
        return f"{place}: column {name!r} holds {value}, which is {is_not}; mend that value."


def _schema(path: Path) -> tuple[Any, list[str]]:
    """Return types and names of the columns, or say that a file is not UTF-8 where it begins."""
    with reading(str(path), _KIND):
        beginning = begins_with(path)
    check_text(path, beginning)
    with reading(str(path), _KIND), open_csv(path) as reader:
        schema = reader.schema
    with suppress(UnicodeDecodeError):
        return schema, schema.names
    raise ValueError(f"{path} is not text in UTF-8; convert it, or save it as CSV in UTF-8.")


def begins_with(path: Path) -> bytes:
    """Return the first bytes of a file, decompressed."""
    with needed("pyarrow", str(path)).input_stream(str(path)) as file:
        found: bytes = file.read(_BEGINNING)
    return found


def check_text(path: Path, beginning: bytes) -> None:
    """Refuse a file that does not begin as text in UTF-8; of UTF-16, say how to convert it."""
    encoding = _utf16(beginning)
    if encoding is not None:
        raise ValueError(
            f"{path} is not text in UTF-8, it looks like UTF-16; save it as CSV in UTF-8, or "
            f"convert it, as in iconv -f {encoding} -t UTF-8 old.csv > new.csv."
        )
    if b"\0" in beginning:  # which no text has
        raise ValueError(f"{path} is not text in UTF-8; convert it, or save it as CSV in UTF-8.")


def _utf16(beginning: bytes) -> str | None:
    """Return what a beginning of UTF-16 is called, which has a mark or zeros at every other place.

    Examples
    --------
    >>> _utf16("a,b".encode("utf-16")), _utf16("a,b".encode("utf-16-be")), _utf16(b"a,b")
    ('UTF-16', 'UTF-16BE', None)
    """
    # The first mark of UTF-32 begins like that of UTF-16.
    if beginning.startswith((b"\xff\xfe", b"\xfe\xff")) and beginning[2:4] != b"\0\0":
        return "UTF-16"
    even, odd = (beginning[k::2].count(0) for k in (0, 1))
    if 4 * max(even, odd) < len(beginning) or min(even, odd):
        return None
    return "UTF-16BE" if even else "UTF-16LE" if odd else None


def open_csv(path: Path, types: dict[str, Any] | None = None, *, gaps: bool = True) -> Any:
    """Open a file to read columns of these types from it, all columns where none are given.

    With `gaps`, what stands for a missing number does so for missing text.
    """
    csv = needed("pyarrow.csv", str(path))
    # One thread is as fast as several here, and only with one is the row of an error known.
    read = csv.ReadOptions(use_threads=False)
    convert = csv.ConvertOptions(
        include_columns=list(types or ()), column_types=types, strings_can_be_null=gaps
    )
    # Cells in quotes may hold line breaks, also where a block of the file ends.
    parse = csv.ParseOptions(newlines_in_values=True)
    return csv.open_csv(str(path), read_options=read, parse_options=parse, convert_options=convert)


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
    try:
        float(name)
    except ValueError:
        return False
    return True
