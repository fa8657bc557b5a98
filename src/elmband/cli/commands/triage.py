"""``elmband triage``: what it can be asked for."""

from typing import Annotated

import typer

from elmband.cli.commands._shared import (
    AsJson,
    Coverage,
    Decimal,
    Delimiter,
    Encoding,
    EscapeFormulas,
    MaxError,
    MaxFpr,
    MinPrecision,
    Model,
    Scheduler,
    Workers,
    check_table,
    share,
)

EXAMPLE = (
    "Example: [bold]elmband triage spam.safetensors mails.csv -o certain.csv "
    "--review review.csv --coverage 0.8[/bold]\n\n"
    "Example: [bold]elmband triage delay.safetensors trips.parquet -o certain.parquet "
    "--review review.parquet --max-width 30 --level 0.9[/bold]"
)


def triage(
    *,
    model: Model,
    data: Annotated[str, typer.Argument(help="Table of rows; - is standard input.")],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="File for accepted rows; - is standard output, as CSV.",
            callback=check_table,
        ),
    ],
    review: Annotated[
        str,
        typer.Option(
            "--review",
            help="File for the rows that a person should see; - is standard output, as CSV.",
            callback=check_table,
        ),
    ],
    max_width: Annotated[
        float | None, typer.Option(help="Numbers: widest interval to accept.", min=0)
    ] = None,
    level: Annotated[
        float, typer.Option(help="Numbers: level of the interval.", callback=share)
    ] = 0.95,
    coverage: Coverage = None,
    max_error: MaxError = None,
    max_fpr: MaxFpr = None,
    min_precision: MinPrecision = None,
    escape_formulas: EscapeFormulas = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Split a table by whether its predictions can be trusted.

    Both files have all columns of the table, the prediction, and the reason: a row is "accepted",
    "between classes", "noisy here" or "unlike training rows". The files appear together, or
    neither does. Workers write two folders of Parquet files, part-000000.parquet and so on.
    """
