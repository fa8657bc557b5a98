"""``elmband triage``: rows whose prediction can be taken, and rows for a person."""

import json
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier, load
from elmband.cli._files import readable
from elmband.cli._model import answers, without_names
from elmband.cli._tables import is_table, table_writer, with_columns

EXAMPLE = (
    "Example: [bold]elmband triage spam.safetensors mails.csv -o certain.csv "
    "--review review.csv --coverage 0.8[/bold]"
)


def triage(
    *,
    model: Annotated[str, typer.Argument(help="Model file.", show_default=False)],
    data: Annotated[
        str, typer.Argument(help="Table of rows; - is standard input.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File for accepted rows.", show_default=False)
    ],
    review: Annotated[
        Path, typer.Option("--review", help="File for the rows that a person should see.")
    ],
    max_width: Annotated[
        float | None, typer.Option(help="Numbers: widest interval to accept.")
    ] = None,
    level: Annotated[float, typer.Option(help="Numbers: level of the interval.")] = 0.95,
    coverage: Annotated[
        float | None, typer.Option(help="Classes: share of rows to answer.")
    ] = None,
    max_error: Annotated[
        float | None, typer.Option(help="Classes: largest share of wrong answers.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print counts as JSON.")] = False,
) -> None:
    """Split a table by whether its predictions can be trusted.

    Both files have all columns of the table, the prediction, and the reason: a row is "accepted",
    "between classes", "noisy here" or "unlike training rows".
    """
    fitted = load(model)
    if isinstance(fitted, ELMSelectiveClassifier):
        if coverage is not None or max_error is not None:
            wish = {"coverage": coverage} if max_error is None else {"max_error": max_error}
            fitted.choose(**wish)
    elif not isinstance(fitted, ELMIntervalRegressor):
        raise ValueError(f"A {type(fitted).__name__} has no intervals to decide by.")
    elif max_width is None:
        raise ValueError("Say how wide an accepted interval may be, with --max-width.")
    counts: dict[str, int] = {}
    with readable(data) as path, ExitStack() as stack:
        if not is_table(path):
            raise ValueError("triage copies the rows of tables: Parquet, CSV or Arrow.")
        writers = [stack.enter_context(table_writer(file)) for file in (output, review)]
        for table, X, columns in answers(fitted, path, [level]):
            with without_names():
                reason = _reasons(fitted, X, max_width, level)
            whole = with_columns(table, {**columns, "reason": reason}, None)
            for write, wanted in zip(
                writers, (reason == "accepted", reason != "accepted"), strict=True
            ):
                write(whole.filter(wanted))
            for name, count in zip(*np.unique(reason, return_counts=True), strict=True):
                counts[str(name)] = counts.get(str(name), 0) + int(count)
    _tell(counts, output, review, as_json=as_json)


def _reasons(model: Any, X: Any, max_width: float | None, level: float) -> Any:
    if isinstance(model, ELMSelectiveClassifier):
        return model.triage(X).reason
    return model.triage(X, max_width=max_width, confidence_level=level).reason


def _tell(counts: dict[str, int], output: Path, review: Path, *, as_json: bool) -> None:
    if as_json:
        typer.echo(json.dumps(counts))
        return
    console = Console(highlight=False, soft_wrap=True)
    accepted = counts.pop("accepted", 0)
    rest = sum(counts.values())
    console.print(f"{accepted:,} rows accepted, written to {output}", markup=False)
    why = ", ".join(f"{count:,} {name}" for name, count in sorted(counts.items()))
    console.print(f"{rest:,} rows for review, written to {review}: {why}", markup=False)
