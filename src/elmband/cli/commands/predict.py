"""``elmband predict``: what it can be asked for."""

from typing import Annotated

import typer

from elmband.cli.commands._shared import (
    AsJson,
    Decimal,
    Delimiter,
    Encoding,
    EscapeFormulas,
    Levels,
    Model,
    Scheduler,
    Workers,
)

EXAMPLE = (
    "Example: [bold]elmband predict delay.safetensors trips.parquet -o delays.parquet "
    "--level 0.9 --keep id[/bold]\n\n"
    "Example: [bold]zcat trips.csv.gz | elmband predict delay.safetensors - -o - | head[/bold]"
)


def predict(
    *,
    model: Model,
    data: Annotated[str, typer.Argument(help="Rows to predict; - is standard input.")],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="File to write: Parquet, CSV or Arrow; - is standard output, as CSV.",
        ),
    ],
    level: Levels = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column to copy beside predictions; may be repeated.")
    ] = None,
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Copy all columns.")] = False,
    escape_formulas: EscapeFormulas = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Write predictions, in the order of the rows.

    Numbers get a mean and the bounds of their interval, at 0.95 if no level is given; classes get
    a label, the probability of every class and the confidence of the label. Workers write a
    folder of Parquet files, part-000000.parquet and so on.

    Notes say how many rows lie beyond the range of the training rows, if they are more than chance
    would have, and how many have levels of text that training did not see.
    """
