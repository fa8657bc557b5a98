"""Options and arguments that several commands have, and checks of their values."""

import json
from collections.abc import Mapping
from typing import Any

import typer

from elmband.cli._files import STANDARD, plain
from elmband.ground.printable import printable


def one_wish(**wishes: float | None) -> dict[str, float]:
    """Return what was asked for, which may be nothing or one thing."""
    asked = {name: value for name, value in wishes.items() if value is not None}
    if len(asked) > 1:
        names = " and ".join(option(name) for name in asked)
        raise typer.BadParameter(f"{names} cannot both be asked for; leave one of them out.")
    return asked


def option(name: str) -> str:
    """Return a name of Python as that of an option."""
    return f"--{name.replace('_', '-')}"


def check_inputs(model: str, data: str) -> None:
    """Refuse to read two things from standard input."""
    if model == data == STANDARD:
        raise typer.BadParameter(
            "Model and data cannot both come from standard input; give the name of a file for one."
        )


def tell(facts: Mapping[str, Any], text: str, *, as_json: bool, outputs: tuple[str, ...]) -> None:
    """Say what was done, to a machine or to people; data on standard output stay alone there."""
    # JSON has escapes of its own.
    words = json.dumps(plain(facts)) if as_json else printable(text)
    typer.echo(words, err=STANDARD in outputs)
