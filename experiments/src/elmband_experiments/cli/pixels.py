"""``elmband pixels``: folders of images and masks become a table of pixels."""

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import typer

from elmband.cli._files import STANDARD, writable
from elmband.cli._options import AsJson, tell
from elmband.ground.wording import counted
from elmband_experiments.pixels import PixelFile, PixelSummary, write_pixels

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
    begun = perf_counter()
    with writable(output, ".csv") as path:
        summary = write_pixels(
            images,
            masks,
            path,
            n_rows=rows,
            balance=balance.value,
            window=window,
            pattern=pattern,
            split=split,
            test_out=test_out,
            target=target,
            skip_unmatched=skip_unmatched,
            random_state=seed,
        )
    if output == STANDARD:
        # People know the first file by this name, not by that of the one it was kept in.
        summary = replace(summary, train=replace(summary.train, path=Path(STANDARD)))
    facts = {**as_dict(summary), "seconds": round(perf_counter() - begun, 3)}
    tell(facts, "\n".join(sentences(summary)), as_json=as_json, outputs=(output,))


def as_dict(summary: PixelSummary) -> dict[str, Any]:
    """Return what was written, in plain types."""
    return {
        "files": [file_as_dict(file) for file in summary.files],
        "features": summary.features,
        "target": summary.target,
        "skipped": summary.skipped,
    }


def file_as_dict(file: PixelFile) -> dict[str, Any]:
    """Return one file in plain types; photos by their number, which JSON writes as text."""
    return {
        "file": str(file.path),
        "rows": file.n_rows,
        "classes": {"1": file.n_white, "-1": file.n_other},
        "n_photos": len(file.photos),
        "photos": file.photos,
    }


def sentences(summary: PixelSummary) -> list[str]:
    """Return what was written, in words."""
    lines = [
        f"{file.path}: {file.n_rows:,} rows from {counted(len(file.photos), 'photo')}, "
        f"{file.n_white:,} with {summary.target} 1 and {file.n_other:,} with -1"
        for file in summary.files
    ]
    names, k = summary.features, len(summary.features)
    lines.append(f"Columns: {k} features {names[0]} to {names[-1]}, photo, {summary.target}")
    if summary.skipped:
        first = ", ".join(summary.skipped[:5]) + (", ..." if len(summary.skipped) > 5 else "")
        lines.append(f"Left out, without a mask: {counted(len(summary.skipped), 'image')}: {first}")
    return lines
