"""``elmband demo``: what it can be asked for."""

from pathlib import Path
from typing import Annotated

import typer

from elmband.cli.commands._shared import (
    AsJson,
    share,
)

EXAMPLE = (
    "Example: [bold]elmband demo --rows 5000 -o demo.png[/bold]\n\n"
    "Example: [bold]elmband demo --tables . && elmband fit train.csv --target progress -o "
    "model.safetensors[/bold]"
)


def _figure(path: str) -> str:
    if path != "-" and not path.lower().endswith(".png"):
        raise typer.BadParameter(f"{path} does not end in .png, the only format here.")
    return path


def demo(
    *,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="Where to write the figure, a PNG file; - is standard output.",
            callback=_figure,
        ),
    ] = "elmband-demo.png",
    rows: Annotated[
        int, typer.Option(help="Training rows of the artificial data.", min=30, max=10_000_000)
    ] = 1000,
    confidence_level: Annotated[
        float,
        typer.Option(help="Share of targets that an interval should cover.", callback=share),
    ] = 0.95,
    seed: Annotated[
        int, typer.Option(help="Seed of data, split and neurons.", min=0, max=2**32 - 1)
    ] = 0,
    tables: Annotated[
        Path | None,
        typer.Option(
            help="Only write the diabetes data, as train.csv and test.csv in this folder: "
            "something to try the other commands on.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare three kinds of interval on two data sets, and draw them.

    A [bold]uniform[/bold] interval has one width everywhere, from the training error.
    A [bold]confidence[/bold] interval says where the mean lies, not where targets fall.
    A [bold]per-sample[/bold] prediction interval has a width of its own for every row.

    One data set is artificial, with known noise that varies tenfold.
    The other is the diabetes set of scikit-learn.
    """
