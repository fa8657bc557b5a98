"""The command ``elmband``. Each command is one file in this folder; here they come together."""

import sys
from typing import Annotated

import typer
from rich.console import Console

from elmband import __version__
from elmband.cli.demo import demo
from elmband.cli.pixels import EXAMPLE, pixels

__all__ = ["app", "main"]

app = typer.Typer(
    name="elmband",
    help="Predictions with intervals of their own, from Extreme Learning Machines.",
    epilog="Example: [bold]elmband demo --rows 1000 -o intervals.png[/bold]",
    rich_markup_mode="rich",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command(epilog=EXAMPLE)(pixels)


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
    except (ImportError, OSError, ValueError) as error:
        console = Console(stderr=True, style="red", soft_wrap=True, highlight=False)
        console.print(f"Error: {error}", markup=False)
        sys.exit(1)
