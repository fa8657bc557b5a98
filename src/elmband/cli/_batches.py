"""Rows of tables, batch by batch, read no further ahead than they are used.

Arrow's own scanner of datasets reads on in threads while the rows before are being worked on, and
keeps what nobody has asked for yet: memory would grow with the files.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from elmband.sources.stream.arrow_file import open_arrow_file
from elmband.sources.stream.batches import validated
from elmband.sources.stream.csv_dialect import CsvDialect
from elmband.sources.stream.csv_open import open_csv
from elmband.sources.stream.errors import needed
from elmband.sources.stream.parquet_file import open_parquet


class Piece(NamedTuple):
    """A file, or some groups of rows of a Parquet file; None stands for all of them.

    The `dialect` is that of a CSV file.
    """

    path: str
    row_groups: tuple[int, ...] | None = None
    dialect: CsvDialect = CsvDialect()


class Reading(NamedTuple):
    """Pieces of files, how to read them, and which of their columns.

    Attributes
    ----------
    pieces : tuple of Piece
        What is read, in its order.
    how : str
        The format: parquet, csv or ipc.
    schema : pyarrow.Schema
        Types of all columns, to which those of every file are turned.
    columns : list of str
        Those to be read.
    gaps : bool
        Whether "NA" and the like are missing values in the text of a CSV file.
    """

    pieces: tuple[Piece, ...]
    how: str
    schema: Any
    columns: list[str]
    gaps: bool = False

    def parts(self) -> Iterator["Reading"]:
        """Cut as files are cut: Parquet by groups of rows, others by files."""
        for piece in self.pieces:
            for part in _groups(piece.path) if self.how == "parquet" else [piece]:
                yield self._replace(pieces=(part,))

    def tables(self, size: int) -> Iterator[Any]:
        """Yield the rows in their order, at most `size` at a time."""
        pa = needed("pyarrow", "A table")
        wanted = pa.schema([self.schema.field(name) for name in self.columns])
        for piece in self.pieces:
            for batch in validated(self._batches(piece, size)):
                table = pa.Table.from_batches([batch]).select(self.columns)
                # Files after the first may have shorter numbers, or others.
                table = table if table.schema.equals(wanted) else table.cast(wanted)
                table = table.replace_schema_metadata(self.schema.metadata)
                for start in range(0, table.num_rows, size):
                    yield table.slice(start, size)

    def _batches(self, piece: Piece, size: int) -> Iterator[Any]:
        """Yield what a library reads at a time."""
        path = Path(piece.path)
        if self.how == "csv":
            types = {name: self.schema.field(name).type for name in self.columns}
            with open_csv(path, piece.dialect, types, gaps=self.gaps) as (_, batches):
                yield from batches
        elif self.how == "parquet":
            with open_parquet(path, len(self.columns)) as file:
                yield from file.iter_batches(size, piece.row_groups, self.columns)
        else:
            with open_arrow_file(path, self.columns) as reader:
                yield from map(reader.get_batch, range(reader.num_record_batches))


def _groups(path: str) -> Iterator[Piece]:
    with open_parquet(Path(path), 1) as file:
        count = file.metadata.num_row_groups
    return (Piece(path, (group,)) for group in range(count))
