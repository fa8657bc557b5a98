"""``elmband triage``: rows whose prediction can be taken, and rows for a person."""

from time import perf_counter
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._cluster import (
    Scheduler,
    Workers,
    check_spread,
    seen_from,
    spread_answers,
    workers_of,
)
from elmband.cli._dialect import Decimal, Delimiter, Encoding, asked_csv
from elmband.cli._files import destination, loaded, named, readable
from elmband.cli._learn import choose
from elmband.cli._model import (
    answers,
    features_of,
    opened_table,
    predicted,
    without_names,
)
from elmband.cli._options import (
    AsJson,
    Coverage,
    EscapeFormulas,
    MaxError,
    MaxFpr,
    MinPrecision,
    Model,
    check_inputs,
    one_wish,
    option,
    share,
    tell,
)
from elmband.cli._outputs import check_outputs
from elmband.cli._write import check_ending, check_escaping, table_writers
from elmband.engines.cluster import Answers
from elmband.engines.engine import reduced
from elmband.ground.wording import counted
from elmband.sources.stream.file_table import FileTable, TableRows, with_columns
from elmband.sources.stream.files import find_files, is_table
from elmband.uncertainty.classes import LabelCounts

EXAMPLE = (
    "Example: [bold]elmband triage spam.safetensors mails.csv -o certain.csv "
    "--review review.csv --coverage 0.8[/bold]\n\n"
    "Example: [bold]elmband triage delay.safetensors trips.parquet -o certain.parquet "
    "--review review.parquet --max-width 30 --level 0.9[/bold]"
)


_UNLIKE = "unlike training rows"


def triage(
    *,
    model: Model,
    data: Annotated[str, typer.Argument(help="Table of rows; - is standard input.")],
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            help="File for accepted rows; - is standard output, as CSV.",
            callback=check_ending,
        ),
    ],
    review: Annotated[
        str,
        typer.Option(
            "--review",
            help="File for the rows that a person should see; - is standard output, as CSV.",
            callback=check_ending,
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
    escape_formulas: EscapeFormulas = False,
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    as_json: AsJson = False,
) -> None:
    """Split a table by whether its predictions can be trusted.

    Both files have all columns of the table, the prediction, and the reason: a row is "accepted",
    "between classes", "noisy here" or "unlike training rows". The files appear together, or
    neither does. Workers write two folders of Parquet files, part-000000.parquet and so on.
    """
    check_inputs(model, data)
    spread = workers is not None or scheduler is not None
    check_outputs([output, review], [model, data], folders=spread)
    if spread:
        check_spread(data, scheduler, (output, review))
    if escape_formulas:
        check_escaping([output, review])
    asked = one_wish(
        coverage=coverage, max_error=max_error, max_fpr=max_fpr, min_precision=min_precision
    )
    csv = asked_csv(delimiter, decimal, encoding)
    begun = perf_counter()
    fitted, data = loaded(model), seen_from(data, scheduler)
    _check_wishes(fitted, asked, max_width)
    with workers_of(workers, scheduler) as client, readable(data) as path:
        if not is_table(path):
            find_files(path)  # which knows names that cannot be read at all
            raise ValueError("triage copies the rows of tables: Parquet, CSV or Arrow.")
        asked_of, outputs = _Question(fitted, max_width, level), (output, review)
        table = opened_table(fitted, path, None, outputs, csv, data)
        if client is None:
            found = _split(asked_of, table, outputs, escape_formulas=escape_formulas)
        else:
            found = spread_answers(client, table, asked_of.answered, outputs).sums
    counts = dict(zip(found.labels.tolist(), map(int, found.counts), strict=True))
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


class _Question(NamedTuple):
    """Which rows of a table a model is to answer."""

    model: Any
    max_width: float | None
    level: float

    def decided(self, rows: TableRows, X: Any, columns: dict[str, Any]) -> Answers:
        """Return accepted rows and those for review, with predictions and reasons, and count."""
        with without_names():
            reason = self._reasons(X)
        encoder = self.model.encoder_
        if encoder is not None:
            # What the mean of the training rows stands for is as sure as that mean, and wrong.
            reason = np.where(encoder.unlike_fit(rows.seen), _UNLIKE, reason)
        whole = with_columns(rows.copied, {**columns, "reason": reason}, None)
        taken = reason == "accepted"
        return Answers((whole.filter(taken), whole.filter(~taken)), LabelCounts.of(reason))

    def _reasons(self, X: Any) -> Any:
        if isinstance(self.model, ELMSelectiveClassifier):
            return self.model.triage(X).reason
        return self.model.triage(X, max_width=self.max_width, confidence_level=self.level).reason

    def answered(self, rows: TableRows) -> Answers:
        """Return the same of rows that a worker has read."""
        X = features_of(self.model, rows.seen)
        with without_names():
            columns = predicted(self.model, X, [self.level])
        return self.decided(rows, X, columns)


def _split(
    asked: _Question, table: FileTable, outputs: tuple[str, str], *, escape_formulas: bool
) -> LabelCounts:
    """Write every row to one of two files, and return how many there are for each reason."""
    counts: list[LabelCounts] = []
    with table_writers(outputs, escape_formulas=escape_formulas) as writers:
        for rows in answers(asked.model, table, [asked.level]):
            split, found = asked.decided(*rows)
            for write, part in zip(writers, split, strict=True):
                write(part)
            counts.append(found)
    return reduced(counts)


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
