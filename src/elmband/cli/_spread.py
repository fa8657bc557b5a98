"""Tables that workers read, answer and write, each a part of a file by itself."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from elmband.cli._model import in_file
from elmband.engines.cluster import Answers, write_parts
from elmband.engines.cluster.work import Counted
from elmband.engines.progress import shown
from elmband.sources.stream.file_table import FileTable, TableRows

# Rows that a worker reads and answers at a time.
_ROWS = 65_536


def spread_answers(
    client: Any, table: FileTable, answer: Callable[[TableRows], Answers], out: tuple[str, ...]
) -> Counted:
    """Let workers answer a table and write folders of Parquet files, and count rows and sums."""
    with shown("auto", None) as bar:
        if bar is not None:
            bar.begin("predict", None)
        return write_parts(
            client,
            table.cut(),
            partial(_answered, answer=answer, path=table.label),
            [Path(name) for name in out],
            chunk_size=_ROWS,
            advance=None if bar is None else bar.advance,
        )


def _answered(rows: TableRows, answer: Callable[[TableRows], Answers], path: str) -> Answers:
    """Answer rows of a part, whose place in the whole table is not known."""
    with in_file(path, None):
        return answer(rows)
