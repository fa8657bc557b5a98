"""Options and arguments that several commands have, and checks of their values."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeAlias

import typer

from elmband.cli._files import STANDARD, plain
from elmband.ground.printable import printable


def share(value: Any) -> Any:
    """Refuse what does not lie between 0 and 1; options that may be repeated come as a list."""
    for number in value if isinstance(value, list) else [value]:
        if number is not None and not 0 < number < 1:
            raise typer.BadParameter(f"{number:g} does not lie between 0 and 1, as 0.95 does.")
    return value


# The part of the help with what is for classes.
CLASSES = "If the target is classes"

Model: TypeAlias = Annotated[str, typer.Argument(help="Model file; - is standard input.")]
Labelled: TypeAlias = Annotated[
    str, typer.Argument(help="Rows with known targets; - is standard input.")
]
Levels: TypeAlias = Annotated[
    list[float] | None,
    typer.Option(
        help="Level of intervals, as in 0.9; may be repeated.", callback=share, metavar="SHARE"
    ),
]


def _of_classes(what: str, **how: Any) -> Any:
    """Return an option for classes."""
    return typer.Option(help=f"Classes: {what}", rich_help_panel=CLASSES, **how)


Coverage: TypeAlias = Annotated[float | None, _of_classes("share of rows to answer.", min=0, max=1)]
MaxError: TypeAlias = Annotated[
    float | None, _of_classes("largest share of wrong answers.", callback=share)
]
MaxFpr: TypeAlias = Annotated[
    float | None, _of_classes("largest share of negatives answered as positive.", callback=share)
]
MinPrecision: TypeAlias = Annotated[
    float | None,
    _of_classes("least share of rows answered as positive that are so.", callback=share),
]
EscapeFormulas: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--escape-formulas",
        help="Put a ' before text in CSV that a spreadsheet would compute: what begins with =, +, "
        "-, @, a tab or a line break and is no number. Refused if no output is CSV; Parquet and "
        "Arrow files hold text as it is.",
    ),
]
AsJson: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json", help="Print what was done as JSON, on standard error if - is the output."
    ),
]


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
