"""Tables written batch by batch: to files that appear whole, or to standard output."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import typer

from elmband.cli._files import STANDARD, naming_output, standard_output
from elmband.cli.commands._shared import FORMATS, check_ending
from elmband.sources.stream.files import is_table, kind_of
from elmband.sources.stream.write import EXTENSIONS, TableFile, open_table_files


def check_ending_for(path: str, data: str) -> None:
    """Refuse the name of a file that cannot hold what is found for these data.

    Numbers without names can be written to more formats than tables. Of what standard input holds
    no more is known before it is read.
    """
    check_ending(path, FORMATS if data != STANDARD and is_table(data) else EXTENSIONS)


def check_escaping(paths: Sequence[str]) -> None:
    """Refuse ``--escape-formulas`` where no output is CSV."""
    if not any(path == STANDARD or kind_of(Path(path)) == "csv" for path in paths):
        raise typer.BadParameter(
            f"--escape-formulas is for CSV, which {' and '.join(paths)} will not be: leave it out, "
            "or name an output as in -o result.csv."
        )


@contextmanager
def table_writers(
    paths: Sequence[str], *, escape_formulas: bool = False
) -> Iterator[list[Callable[[Any], None]]]:
    """Open files for Arrow tables, which appear together once all are written.

    What is for standard output is CSV, and is written at once.
    """
    files = [path for path in paths if path != STANDARD]
    with ExitStack() as stack:
        opened = iter(stack.enter_context(open_table_files(files, escape_formulas=escape_formulas)))
        yield [
            stack.enter_context(_printing(escape_formulas=escape_formulas))
            if path == STANDARD
            else next(opened)
            for path in paths
        ]


@contextmanager
def _printing(*, escape_formulas: bool) -> Iterator[Callable[[Any], None]]:
    """Give the way to write to standard output."""
    with naming_output():
        file = TableFile(standard_output(), ".csv", escape_formulas=escape_formulas)

    def write(table: Any) -> None:
        with naming_output():
            file.add(table)

    yield write
    with naming_output():
        standard_output().flush()
