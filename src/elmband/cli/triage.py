"""``elmband triage``: rows whose prediction can be taken, and rows for a person."""

from contextlib import ExitStack
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._files import destination, loaded, named, readable
from elmband.cli._learn import choose
from elmband.cli._model import answers, told_of, without_names
from elmband.cli._options import (
    AsJson,
    Coverage,
    MaxError,
    MaxFpr,
    MinPrecision,
    Model,
    check_inputs,
    counted,
    one_wish,
    option,
    share,
    tell,
)
from elmband.cli._tables import is_table, with_columns
from elmband.cli._write import check_ending, table_writer

EXAMPLE = (
    "Example: [bold]elmband triage spam.safetensors mails.csv -o certain.csv "
    "--review review.csv --coverage 0.8[/bold]\n\n"
    "Example: [bold]elmband triage delay.safetensors trips.parquet -o certain.parquet "
    "--review review.parquet --max-width 30 --level 0.9[/bold]"
)


def triage(
    *,
    model: Model,
    data: Annotated[
        str, typer.Argument(help="Table of rows; - is standard input.", show_default=False)
    ],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="File for accepted rows; - is standard output, as CSV.",
            callback=check_ending,
            show_default=False,
        ),
    ],
    review: Annotated[
        str,
        typer.Option(
            "--review",
            help="File for the rows that a person should see; - is standard output, as CSV.",
            callback=check_ending,
            show_default=False,
        ),
    ],
    max_width: Annotated[
        float | None, typer.Option(help="Numbers: widest interval to accept.", min=0)
    ] = None,
    level: Annotated[
        float, typer.Option(help="Numbers: level of the interval.", callback=share)
    ] = 0.95,
    coverage: Coverage = None,
    max_error: MaxError = None,
    max_fpr: MaxFpr = None,
    min_precision: MinPrecision = None,
    as_json: AsJson = False,
) -> None:
    """Split a table by whether its predictions can be trusted.

    Both files have all columns of the table, the prediction, and the reason: a row is "accepted",
    "between classes", "noisy here" or "unlike training rows".
    """
    check_inputs(model, data)
    _check_outputs(output, review)
    asked = one_wish(
        coverage=coverage, max_error=max_error, max_fpr=max_fpr, min_precision=min_precision
    )
    begun = perf_counter()
    fitted = loaded(model)
    _check_wishes(fitted, asked, max_width)
    with readable(data) as path, told_of(data, path):
        if not is_table(path):
            raise ValueError("triage copies the rows of tables: Parquet, CSV or Arrow.")
        counts = _split(fitted, path, (output, review), max_width, level)
    accepted = counts.get("accepted", 0)
    facts = {
        "output": output,
        "review_output": review,
        "model": named(model),
        "data": named(data),
        "rows": sum(counts.values()),
        "accepted": accepted,
        "review": sum(counts.values()) - accepted,
        "reasons": counts,
        "seconds": round(perf_counter() - begun, 3),
    }
    if isinstance(fitted, ELMSelectiveClassifier):
        facts["statement"] = fitted.statement_
    tell(facts, _words(facts), as_json=as_json, outputs=(output, review))


def _check_outputs(output: str, review: str) -> None:
    """Refuse one place for both kinds of rows."""
    if output == review:
        raise typer.BadParameter(
            f"Accepted rows and rows for review cannot both go to {destination(output)}; name "
            "another file."
        )


def _check_wishes(model: Any, asked: dict[str, float], max_width: float | None) -> None:
    """Refuse wishes that are not for this kind of model, and ask it for the others."""
    if isinstance(model, ELMSelectiveClassifier):
        if max_width is not None:
            raise ValueError("--max-width is for models of numbers; this one tells classes.")
        if asked:
            choose(model, asked)
        elif not model.has_thresholds:
            raise ValueError("Say which rows to answer, as in --coverage 0.8 or --max-error 0.01.")
    elif not isinstance(model, ELMIntervalRegressor):
        raise ValueError(f"A {type(model).__name__} has no intervals to decide by.")
    elif max_width is None:
        raise ValueError("Say how wide an accepted interval may be, with --max-width.")
    else:
        for name in asked:
            raise ValueError(f"{option(name)} is for classes; this is a model of numbers.")


def _split(
    model: Any, path: str, outputs: tuple[str, str], max_width: float | None, level: float
) -> dict[str, int]:
    """Write every row to one of two files, and return how many there are for each reason."""
    counts: dict[str, int] = {}
    with ExitStack() as stack:
        writers = [stack.enter_context(table_writer(file)) for file in outputs]
        for table, X, columns in answers(model, path, [level], None):
            with without_names():
                reason = _reasons(model, X, max_width, level)
            whole = with_columns(table, {**columns, "reason": reason}, None)
            taken = reason == "accepted"
            for write, wanted in zip(writers, (taken, ~taken), strict=True):
                write(whole.filter(wanted))
            for name, count in zip(*np.unique(reason, return_counts=True), strict=True):
                counts[str(name)] = counts.get(str(name), 0) + int(count)
    return counts


def _reasons(model: Any, X: Any, max_width: float | None, level: float) -> Any:
    if isinstance(model, ELMSelectiveClassifier):
        return model.triage(X).reason
    return model.triage(X, max_width=max_width, confidence_level=level).reason


def _words(facts: dict[str, Any]) -> str:
    """Return what was done, for people."""
    reasons = sorted(facts["reasons"].items())
    why = ", ".join(f"{count:,} {name}" for name, count in reasons if name != "accepted")
    outputs = destination(facts["output"]), destination(facts["review_output"])
    return (
        f"{counted(facts['accepted'], 'row')} accepted, written to {outputs[0]}\n"
        f"{counted(facts['review'], 'row')} for review, written to {outputs[1]}"
        f"{f': {why}' if why else ''}"
    )
