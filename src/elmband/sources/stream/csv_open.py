"""The only place that opens CSV files: their columns as Arrow has them, and what is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from elmband.sources.encode.written import ABSENT_MARKS
from elmband.sources.stream.csv_bytes import unpacked
from elmband.sources.stream.csv_dialect import UTF8, CsvDialect
from elmband.sources.stream.errors import needed

# Whole numbers such as 00501 and 007, which are names.
_PADDED = r"^\s*[+-]?0\d+\s*$"
# Days with blanks around them, which Arrow finds to be dates, and then does not read with a time.
_BLANK = r"^\s|\s$"


class CsvColumns(NamedTuple):
    """The columns of a file by its first block.

    Attributes
    ----------
    schema : pyarrow.Schema
        Their names and types.
    padded : frozenset of str
        Those of whole numbers, some of which begin with zeros.
    blank : frozenset of str
        Those of days, some of which have blanks around them.
    """

    schema: Any
    padded: frozenset[str]
    blank: frozenset[str]


@contextmanager
def open_csv(
    path: Path, dialect: CsvDialect, types: dict[str, Any] | None = None, *, gaps: bool = True
) -> Iterator[tuple[Any, Iterator[Any]]]:
    """Give the schema and the record batches of columns of these types, of all without types.

    In all columns but those of text, marks such as ``-`` and ``N/A`` are missing values. With
    `gaps`, words such as ``NA`` and nothing at all are so in text; ``-`` may be a class there.
    """
    with _reader(path, dialect, types, _marks()) as reader:
        yield reader.schema, map(_without_words, reader) if gaps else iter(reader)


@contextmanager
def _reader(
    path: Path, dialect: CsvDialect, types: dict[str, Any] | None, marks: list[str] | None
) -> Iterator[Any]:
    csv = needed("pyarrow.csv", str(path))
    # One thread is as fast as several here, and only with one is the row of an error known.
    encoding = "utf8" if dialect.encoding == UTF8 else dialect.encoding
    read = csv.ReadOptions(use_threads=False, encoding=encoding)
    convert = csv.ConvertOptions(
        include_columns=list(types or ()),
        column_types=types,
        null_values=marks,
        decimal_point=dialect.decimal,
    )
    # Cells in quotes may hold line breaks, also where a block of the file ends.
    parse = csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True)
    how = {"read_options": read, "parse_options": parse, "convert_options": convert}
    with unpacked(path, dialect.packing) as file, csv.open_csv(file, **how) as reader:
        yield reader


@cache
def _marks() -> list[str]:
    """Return the marks of a missing number in the ways that people write them.

    Arrow compares cells with each of them, blanks included, and prepares that for every column: so
    there are not more of them, and single characters alone are looked for in aligned columns.
    """
    written = {case(mark) for mark in ABSENT_MARKS for case in (str, str.upper, str.title)}
    written |= {"NaN", "-NaN", "#N/A n/a", "1.#Ind", "1.#QNaN", "-1.#QNaN"}
    found = {f"{a}{mark}{b}" for mark in written for a in ("", " ") for b in ("", " ")}
    found |= {f"{' ' * n}{mark}" for mark in written if len(mark) < 2 for n in range(12)}
    return sorted(found)


@cache
def _words() -> Any:
    """Return what stands for missing text: what Arrow, like pandas, takes for it."""
    pa, csv = (needed(name, "A CSV file") for name in ("pyarrow", "pyarrow.csv"))
    return pa.array(csv.ConvertOptions().null_values, pa.string())


def _without_words(batch: Any) -> Any:
    """Return a record batch in which words for what is missing are missing, in its text."""
    pa = needed("pyarrow", "A CSV file")
    columns = []
    for column in batch.columns:
        if pa.types.is_dictionary(column.type):
            columns.append(_levels_without_words(column))
        elif pa.types.is_string(column.type):
            columns.append(_text_without_words(column))
        else:
            columns.append(column)
    return pa.record_batch(columns, schema=batch.schema)


def _text_without_words(column: Any) -> Any:
    pa, compute = (needed(name, "A CSV file") for name in ("pyarrow", "pyarrow.compute"))
    gone = compute.is_in(column, _words())
    return compute.if_else(gone, pa.scalar(None, column.type), column)


def _levels_without_words(column: Any) -> Any:
    """Return levels and their places without such words, which costs nothing for each row."""
    pa, compute = (needed(name, "A CSV file") for name in ("pyarrow", "pyarrow.compute"))
    gone = compute.is_in(column.dictionary, _words())
    if not compute.any(gone).as_py():
        return column
    kept = compute.invert(gone)
    places = compute.subtract(compute.cumulative_sum(kept.cast("int32")), 1).cast("int32")
    places = compute.if_else(gone, pa.scalar(None, pa.int32()), places)
    return pa.DictionaryArray.from_arrays(
        places.take(column.indices), column.dictionary.filter(kept)
    )


def csv_columns(path: Path, dialect: CsvDialect) -> CsvColumns:
    """Return what the columns of a file seem to be, by its first block."""
    pa = needed("pyarrow", str(path))
    with open_csv(path, dialect) as (schema, _):
        pass
    names = schema.names
    if len(set(names)) < len(names):
        return CsvColumns(schema, frozenset(), frozenset())
    if pa.null() in schema.types:
        # Marks of absence alone may be levels of text: then this is no column of numbers.
        with _reader(path, dialect, None, None) as reader:
            found = zip(schema, reader.schema, strict=True)
            schema = pa.schema([b if pa.types.is_null(a.type) else a for a, b in found])
    whole = [field.name for field in schema if pa.types.is_integer(field.type)]
    days = [field.name for field in schema if pa.types.is_date(field.type)]
    padded, blank = (
        _matching(path, dialect, names, pattern)
        for names, pattern in ((whole, _PADDED), (days, _BLANK))
    )
    return CsvColumns(schema, padded, blank)


def _matching(path: Path, dialect: CsvDialect, names: list[str], pattern: str) -> frozenset[str]:
    """Return those of some columns in which any cell of the first block matches a pattern."""
    if not names:
        return frozenset()
    pa, compute = (needed(name, str(path)) for name in ("pyarrow", "pyarrow.compute"))
    with open_csv(path, dialect, dict.fromkeys(names, pa.string())) as (_, batches):
        batch = next(batches, None)
    if batch is None:
        return frozenset()
    columns = zip(batch.schema.names, batch.columns, strict=True)
    return frozenset(
        name
        for name, column in columns
        if compute.any(compute.match_substring_regex(column, pattern)).as_py()
    )
