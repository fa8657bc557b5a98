"""``elmband predict``: every row with its prediction and its interval."""

import json
from typing import Annotated

import typer
from rich.console import Console

from elmband import ELMIntervalRegressor, load, scan
from elmband.cli._files import STANDARD, readable, writable
from elmband.cli._model import answers
from elmband.cli._tables import is_table, table_writer, with_columns

EXAMPLE = (
    "Example: [bold]elmband predict delay.safetensors trips.parquet -o delays.parquet "
    "--level 0.9 --keep id[/bold]"
)


def predict(
    *,
    model: Annotated[str, typer.Argument(help="Model file.", show_default=False)],
    data: Annotated[
        str, typer.Argument(help="Rows to predict; - is standard input.", show_default=False)
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output", "-o", help="File to write; - is standard output.", show_default=False
        ),
    ],
    level: Annotated[
        list[float] | None, typer.Option(help="Level of the interval; may be repeated.")
    ] = None,
    keep: Annotated[
        list[str] | None, typer.Option(help="Column to copy beside predictions; may be repeated.")
    ] = None,
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Copy all columns.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was done as JSON.")] = False,
) -> None:
    """Write predictions, in the order of the rows.

    Numbers get a mean and the bounds of their interval, classes a label, the probability of every
    class and the confidence of the label.
    """
    levels, count = level or [0.95], 0
    fitted = load(model)
    with readable(data) as path, writable(output) as out:
        if is_table(path):
            with table_writer(out) as write:
                for table, _, columns in answers(fitted, path, levels):
                    kept = None if keep_all else keep or []
                    write(with_columns(table, columns, kept))
                    count += table.num_rows
        elif isinstance(fitted, ELMIntervalRegressor):
            rows = scan(path, features=range(fitted.n_features_in_))
            fitted.predict_interval(rows, levels, out=out)
            count = rows.n_rows or 0
        else:
            rows = scan(path, features=range(fitted.n_features_in_))
            fitted.predict_proba(rows, out=out)
            count = rows.n_rows or 0
    told = Console(stderr=output == STANDARD, highlight=False, soft_wrap=True)
    if as_json:
        told.print(json.dumps({"rows": count, "output": output}), markup=False)
    elif output != STANDARD:
        told.print(f"{count:,} rows predicted, written to {output}", markup=False)
