"""The command ``elmband``. Each command is one file in this folder; here they come together."""

import os
import sys
from typing import Annotated

import typer
from rich.console import Console

from elmband import __version__
from elmband.cli import evaluate, export, fit, info, pixels, predict, report, triage
from elmband.cli.demo import demo

__all__ = ["app", "main"]

app = typer.Typer(
    name="elmband",
    help="Predictions with intervals of their own, from Extreme Learning Machines.",
    epilog=(
        "Exit status: 0 done, 1 a problem with data, a model or a wish, 2 wrong usage, "
        "130 interrupted.\n\nExample: [bold]elmband fit trips.parquet --target delay -o "
        "delay.safetensors[/bold]"
    ),
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
app.command(epilog=fit.EXAMPLE)(fit.fit)
app.command(epilog=predict.EXAMPLE)(predict.predict)
app.command(epilog=evaluate.EXAMPLE)(evaluate.evaluate)
app.command(epilog=triage.EXAMPLE)(triage.triage)
app.command(epilog=report.EXAMPLE)(report.report)
app.command(epilog=info.EXAMPLE)(info.info)
app.command(epilog=export.EXAMPLE)(export.export)
app.command(epilog=pixels.EXAMPLE)(pixels.pixels)
app.command()(demo)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 (Typer hands over the flag by position)
    if wanted:
        typer.echo(f"elmband {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version and exit.", callback=_print_version, is_eager=True
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line; an expected failure becomes one sentence and exit status 1."""
    try:
        app(prog_name="elmband")
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader has gone; what is left to say would fail as well.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        sys.exit(141)
    except (ImportError, OSError, ValueError) as error:
        console = Console(stderr=True, style="red", soft_wrap=True, highlight=False)
        console.print(f"Error: {error}", markup=False)
        sys.exit(1)
