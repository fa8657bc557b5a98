"""``elmband reproduce``: what it can be asked for."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from elmband.cli.commands._shared import AsJson

EXAMPLE = (
    "Example: [bold]elmband reproduce figures -o paper[/bold]\n\n"
    "Example: [bold]elmband reproduce tables --download -o paper[/bold]\n\n"
    "Example: [bold]elmband reproduce all --data data --photos data/skin_abdomen -o paper[/bold]"
)


class What(StrEnum):
    """Parts of the paper."""

    FIGURES = "figures"
    TABLES = "tables"
    SKIN = "skin"
    RUNTIME = "runtime"
    ALL = "all"


def reproduce(
    *,
    what: Annotated[What, typer.Argument(help="Which part of the paper.")] = What.ALL,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder to write to, made where there is none.")
    ] = Path("elmband-paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer splits, rows and steps: numbers are rough.")
    ] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            help="For tables: the folder with the real data sets.",
            envvar="ELMBAND_DATA",
            show_default=False,
        ),
    ] = None,
    download: Annotated[
        bool,
        typer.Option(
            "--download",
            help="For tables: fetch data sets that neither the folder nor the cache has.",
        ),
    ] = False,
    photos: Annotated[
        Path | None,
        typer.Option(
            help="For skin: a folder that holds the folders images and masks.", show_default=False
        ),
    ] = None,
    pixels: Annotated[
        int,
        typer.Option(
            help="For skin: pixels in all, half for the test; 4000000 as published take 5 GB of "
            "disk for a while.",
            min=200,
        ),
    ] = 200_000,
    seed: Annotated[
        int, typer.Option(help="Seed of data, splits and neurons.", min=0, max=2**31)
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Run the experiments of the paper, and write one page on what comes out.

    The folder gets [bold]index.html[/bold], which tells what was published, what came out here and
    why they differ; a PNG for each figure, a CSV for each table, and results.json. The published
    mode and elmband's defaults stand side by side.

    The tables need real data, from a folder of yours or, if you ask for it, from their public
    sources; what was fetched once is kept. Without data the other experiments still run.
    """
