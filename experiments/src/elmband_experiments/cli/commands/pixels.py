"""``elmband pixels``: what it can be asked for."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from elmband.cli.commands._shared import AsJson

EXAMPLE = (
    "Example: [bold]elmband pixels images masks -o train.parquet --rows 2000000 "
    "--balance balanced --split 0.7 --test-out test.parquet[/bold]"
)


class BalanceOption(StrEnum):
    """How the classes are mixed."""

    NATURAL = "natural"
    BALANCED = "balanced"


def pixels(
    *,
    images: Annotated[Path, typer.Argument(help="Folder of images.", show_default=False)],
    masks: Annotated[
        Path,
        typer.Argument(
            help="Folder of masks, each named as its image but for the ending.", show_default=False
        ),
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="File to write: .npy, .parquet, .h5, .csv, .csv.gz or .arrow; - is standard "
            "output, as CSV.",
            show_default=False,
        ),
    ],
    rows: Annotated[
        int | None,
        typer.Option(
            help="Rows in all, of both files where there is a split.", min=1, show_default="all"
        ),
    ] = None,
    balance: Annotated[
        BalanceOption, typer.Option(help="Classes as they come, or half of each.")
    ] = BalanceOption.NATURAL,
    pattern: Annotated[
        str, typer.Option(help='Names of the images to use, as in "train_*".')
    ] = "*",
    split: Annotated[
        float | None,
        typer.Option(help="Share of the photos for OUTPUT; the rest is for --test-out."),
    ] = None,
    test_out: Annotated[
        Path | None, typer.Option(help="Second file, for the photos that the split leaves.")
    ] = None,
    window: Annotated[
        int, typer.Option(help="Side of the square around each pixel, odd.", min=1)
    ] = 7,
    target: Annotated[str, typer.Option(help="Name of the target column.")] = "skin",
    skip_unmatched: Annotated[
        bool, typer.Option("--skip-unmatched", help="Leave out images without a mask, and say so.")
    ] = False,
    seed: Annotated[
        int, typer.Option(help="Seed of the choice of pixels and of photos.", min=0, max=2**32 - 1)
    ] = 0,
    as_json: AsJson = False,
) -> None:
    """Write pixels of photos to a table: colours around each, its photo, its class.

    Each row is a pixel: red, green and blue of the [bold]window[/bold] around it, row by row, as
    columns r_-3_-3 (three rows above, three columns left) to b_3_3; the number of its
    [bold]photo[/bold]; and last the [bold]target[/bold], 1 where the mask is white and -1
    elsewhere. Pixels whose window leaves the image are not used.

    All photos give the same number of rows as far as they have them. Train on the table with
    elmband.scan.
    """
