"""Tables that workers read, answer and write, each a part of a file by itself."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elmband.cli._model import kinds_of
from elmband.cli._tables import opened_table, reading
from elmband.cluster import Answers, write_parts
from elmband.cluster.work import Counted
from elmband.progress import shown
from elmband.stream.errors import needed

# Rows that a worker reads and answers at a time.
_ROWS = 65_536


@dataclass(frozen=True, eq=False)
class TablePart:
    """A file of a table, or a group of its rows; `schema` is that of the whole table."""

    path: str
    fragment: Any
    schema: Any
    columns: list[str]

    @property
    def label(self) -> str:
        """The table."""
        return self.path

    def chunks(self, size: int) -> Iterator[Any]:
        """Read the rows as Arrow tables."""
        arrow = needed("pyarrow", "A table")
        with reading(self.path, self.schema.names):
            batches = self.fragment.to_batches(
                schema=self.schema, columns=self.columns, batch_size=size
            )
            for batch in batches:
                if batch.num_rows:
                    yield arrow.Table.from_batches([batch])


def table_parts(model: Any, path: str, keep: list[str] | None) -> list[TablePart]:
    """Cut a table as its files are cut: Parquet by groups of rows, others by files."""
    rows, columns = opened_table(path, kinds_of(model), keep)
    with reading(path, rows.schema.names):
        files = rows.get_fragments()
        pieces = [part for file in files for part in _row_groups(file)]
    return [TablePart(path, piece, rows.schema, columns) for piece in pieces]


def _row_groups(fragment: Any) -> list[Any]:
    whole = [fragment]
    return list(fragment.split_by_row_group()) if hasattr(fragment, "row_groups") else whole


def spread_answers(
    client: Any,
    model: Any,
    path: str,
    keep: list[str] | None,
    answer: Callable[[Any], Answers],
    out: tuple[str, ...],
) -> Counted:
    """Let workers answer a table and write folders of Parquet files, and count rows and sums."""
    with shown("auto", None) as bar:
        if bar is not None:
            bar.begin("predict", None)
        return write_parts(
            client,
            table_parts(model, path, keep),
            answer,
            [Path(name) for name in out],
            chunk_size=_ROWS,
            advance=None if bar is None else bar.advance,
        )
