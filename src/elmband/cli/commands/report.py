"""``elmband report``: what it can be asked for."""

from typing import Annotated

import typer

from elmband.cli.commands._shared import (
    AsJson,
    Decimal,
    Delimiter,
    DropMissing,
    Encoding,
    Labelled,
    Model,
    Truth,
    share,
)

EXAMPLE = "Example: [bold]elmband report delay.safetensors test.parquet -o report.html[/bold]"


def _page(path: str) -> str:
    if path != "-" and not path.lower().endswith((".html", ".htm")):
        raise typer.BadParameter(f"{path} is no name for a page; let it end in .html.")
    return path


def report(
    *,
    model: Model,
    data: Labelled,
    target: Truth = None,
    drop_missing_targets: DropMissing = False,
    output: Annotated[
        str,
        typer.Option("--output", "-o", help="Page to write; - is standard output.", callback=_page),
    ] = "report.html",
    level: Annotated[float, typer.Option(help="Level of the intervals.", callback=share)] = 0.9,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            "--group",
            help="Column by which coverage is shown, such as a region; it need not be a feature. "
            "May be given several times.",
            metavar="COLUMN",
        ),
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of the target, such as minutes.")] = None,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    as_json: AsJson = False,
) -> None:
    """Write one page that needs nothing else: what the model promises, whether it keeps it, where.

    Rows should be ones that training did not see; the page says how many of them it saw.
    """
