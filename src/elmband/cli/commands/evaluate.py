"""``elmband evaluate``: what it can be asked for."""

from typing import Annotated

import typer

from elmband.cli.commands._shared import (
    AsJson,
    By,
    Decimal,
    Delimiter,
    DropMissing,
    Encoding,
    Labelled,
    Levels,
    Model,
    Scheduler,
    Tolerance,
    Truth,
    Workers,
)

EXAMPLE = (
    "Example: [bold]elmband evaluate delay.safetensors test.parquet[/bold]\n\n"
    "Example: [bold]elmband evaluate delay.safetensors test.parquet --level 0.9 --tolerance 0.02 "
    "|| echo 'train it again'[/bold]\n\n"
    "Example: [bold]elmband evaluate delay.safetensors test.parquet --by carrier --by day[/bold]"
)


def evaluate(
    *,
    model: Model,
    data: Labelled,
    target: Truth = None,
    drop_missing_targets: DropMissing = False,
    weight: Annotated[
        str | None,
        typer.Option(help="Column with weights of rows.", metavar="COLUMN"),
    ] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    level: Levels = None,
    by: By = None,
    tolerance: Tolerance = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Print errors, and what intervals cover, on rows that training did not see.

    A note says how many of them it saw, where the model knows. Intervals are judged at 0.5, 0.9
    and 0.95 if no level is given.
    """
