"""Options and arguments that several commands have, and checks of their values."""

from collections.abc import Iterable
from typing import Annotated, Any, TypeAlias

import typer

# Parts of the help.
CLASSES = "If the target is classes"
RUNS = "Where it runs"

# Endings of tables whose columns have names.
FORMATS = (".parquet", ".arrow", ".feather", ".ipc", ".csv", ".csv.gz")


def share(value: Any) -> Any:
    """Refuse what does not lie between 0 and 1; options that may be repeated come as a list."""
    for number in value if isinstance(value, list) else [value]:
        if number is not None and not 0 < number < 1:
            raise typer.BadParameter(f"{number:g} does not lie between 0 and 1, as 0.95 does.")
    return value


def check_ending(path: str, endings: Iterable[str] = FORMATS) -> str:
    """Refuse the name of a table whose format it does not tell; ``-`` takes CSV."""
    if path != "-" and not path.lower().endswith(tuple(endings)):
        raise typer.BadParameter(
            f"{path} has none of the endings that tables are written to: {', '.join(endings)}."
        )
    return path


def check_table(path: str) -> str:
    """Refuse the name of a table of rows that have columns with names."""
    return check_ending(path)


def _of_classes(what: str, **how: Any) -> Any:
    """Return an option for classes."""
    return typer.Option(help=f"Classes: {what}", rich_help_panel=CLASSES, **how)


Model: TypeAlias = Annotated[str, typer.Argument(help="Model file; - is standard input.")]
Labelled: TypeAlias = Annotated[
    str, typer.Argument(help="Rows with known targets; - is standard input.")
]
Truth: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        help="Column with the truth; by default the one that the model was trained to predict.",
    ),
]
DropMissing: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--drop-missing-targets",
        help="Leave out rows without a target, and say how many. Without it they are refused.",
    ),
]
Levels: TypeAlias = Annotated[
    list[float] | None,
    typer.Option(
        help="Level of intervals, as in 0.9; may be repeated.", callback=share, metavar="SHARE"
    ),
]
By: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        help="Column of the table, feature or not, for whose values coverage, width and rows are "
        "shown (classes: answers and errors), the worst first; may be repeated. Numbers of many "
        "values are cut at quantiles, dates into years, months, days or hours, and rare words are "
        "taken together. Verdicts allow for chance, and for the number of groups.",
        metavar="COLUMN",
    ),
]
Tolerance: TypeAlias = Annotated[
    float | None,
    typer.Option(
        help="End with status 3 if shares differ by more than this from what was asked for. "
        "Numbers: the coverage of each level, below it or above (intervals too wide). Classes, by "
        "what fit was asked for: the share answered, below or above; more errors or false "
        "positives, or less precision; better ones never count. Chance alone makes some 1/√n for "
        "n rows: 0.1 for 100, 0.01 for 10,000.",
        min=0,
        max=1,
    ),
]
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
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help='CSV: what separates cells, such as ";" or tab; found by itself if not given.',
        metavar="CHARACTER",
    ),
]
Decimal: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help='CSV: the decimal point, "." or ","; found by itself if not given.',
        metavar="CHARACTER",
    ),
]
Encoding: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="CSV: the encoding of text, such as latin-1; UTF-8 or UTF-16 if not given.",
        metavar="NAME",
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        help="Let so many processes of this machine do the work.", min=1, rich_help_panel=RUNS
    ),
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Let the workers of this Dask scheduler do the work; they read the files themselves.",
        metavar="ADDRESS",
        rich_help_panel=RUNS,
    ),
]
AsJson: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--json", help="Print what was done as JSON, on standard error if - is the output."
    ),
]
