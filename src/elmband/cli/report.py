"""``elmband report``: a page that shows where a model can be trusted."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from elmband import load
from elmband.cli._model import column, opened
from elmband.files import check_writable
from elmband.report import write_report

EXAMPLE = (
    "Example: [bold]elmband report delay.safetensors test.parquet --target delay "
    "-o report.html[/bold]"
)


def report(
    *,
    model: Annotated[str, typer.Argument(help="Model file.", show_default=False)],
    data: Annotated[
        str,
        typer.Argument(help="Rows with known targets; - is standard input.", show_default=False),
    ],
    target: Annotated[
        str, typer.Option("--target", "-t", help="Column with the truth.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Page to write.", show_default=False)
    ] = Path("report.html"),
    level: Annotated[float, typer.Option(help="Level of the intervals.")] = 0.9,
    title: Annotated[str | None, typer.Option(help="Title of the page.")] = None,
    group: Annotated[
        str | None, typer.Option(help="Column by which coverage is shown, such as a region.")
    ] = None,
    unit: Annotated[str | None, typer.Option(help="Unit of the target, such as minutes.")] = None,
) -> None:
    """Write one page that needs nothing else: what the model promises, whether it keeps it, where.

    Rows should be ones that training did not see.
    """
    check_writable(output)
    fitted = load(model)
    with opened(data, encoder=fitted.encoder_, target=column(target)) as rows:
        write_report(
            fitted, rows, output, confidence_level=level, title=title, group=group, unit=unit
        )
    Console(highlight=False, soft_wrap=True).print(f"Report written to {output}", markup=False)
