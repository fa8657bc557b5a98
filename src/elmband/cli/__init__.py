"""The command ``elmband``: ``commands`` says what it can be asked for, one file each does it."""

from typing import Annotated

import typer

from elmband import __version__
from elmband.cli._commands import add_commands
from elmband.cli._status import MEANING, Commands, ending

__all__ = ["app", "main"]

app = typer.Typer(
    name="elmband",
    cls=Commands,
    help="Predictions with intervals of their own, from Extreme Learning Machines.",
    epilog=(
        "The usual way: fit a model, evaluate it or write a report on other rows, then predict or "
        "triage new ones. Each command has --help with examples, and --json for programs.\n\n"
        f"{MEANING}\n\nExample: [bold]elmband fit trips.parquet --target delay -o "
        "delay.safetensors[/bold]\n\n"
        "Example: [bold]elmband evaluate delay.safetensors test.parquet[/bold]\n\n"
        "Example: [bold]elmband predict delay.safetensors new.parquet -o delays.csv[/bold]"
    ),
    rich_markup_mode="rich",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
add_commands(app)


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
    """Run the command line; an expected failure becomes one sentence and an exit status."""
    with ending():
        app(prog_name="elmband")
