"""``elmband triage``: rows whose prediction can be taken, and rows for a person."""

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._cluster import (
    check_spread,
    seen_from,
    spread_answers,
    workers_of,
)
from elmband.cli._dialect import asked_csv
from elmband.cli._files import destination, loaded, named, readable
from elmband.cli._learn import choose
from elmband.cli._model import (
    answers,
    features_of,
    opened_table,
    triaged,
    without_names,
)
from elmband.cli._options import (
    check_inputs,
    one_wish,
    option,
    tell,
)
from elmband.cli._outputs import check_outputs
from elmband.cli._write import check_escaping, table_writers
from elmband.engines.cluster import Answers
from elmband.engines.engine import reduced
from elmband.ground.wording import counted
from elmband.sources.stream.file_table import FileTable, TableRows, with_columns
from elmband.sources.stream.files import find_files, is_table
from elmband.uncertainty.classes import LabelCounts

_UNLIKE = "unlike training rows"


def triage(
    *,
    model: str,
    data: str,
    output: str,
    review: str,
    max_width: float | None,
    level: float,
    coverage: float | None,
    max_error: float | None,
    max_fpr: float | None,
    min_precision: float | None,
    escape_formulas: bool,
    delimiter: str | None,
    decimal: str | None,
    encoding: str | None,
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
) -> None:
    """Do what was asked for."""
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

    def told(self, model: Any, X: Any) -> dict[str, Any]:
        """Return predictions and reasons."""
        return triaged(model, X, self.max_width, self.level)

    def decided(self, rows: TableRows, columns: dict[str, Any]) -> Answers:
        """Return accepted rows and those for review, with predictions and reasons, and count."""
        reason = columns["reason"]
        encoder = self.model.encoder_
        if encoder is not None:
            # What the mean of the training rows stands for is as sure as that mean, and wrong.
            reason = np.where(encoder.unlike_fit(rows.seen), _UNLIKE, reason)
        whole = with_columns(rows.copied, {**columns, "reason": reason}, None)
        taken = reason == "accepted"
        return Answers((whole.filter(taken), whole.filter(~taken)), LabelCounts.of(reason))

    def answered(self, rows: TableRows) -> Answers:
        """Return the same of rows that a worker has read."""
        with without_names():
            columns = self.told(self.model, features_of(self.model, rows.seen))
        return self.decided(rows, columns)


def _split(
    asked: _Question, table: FileTable, outputs: tuple[str, str], *, escape_formulas: bool
) -> LabelCounts:
    """Write every row to one of two files, and return how many there are for each reason."""
    counts: list[LabelCounts] = []
    with table_writers(outputs, escape_formulas=escape_formulas) as writers:
        for rows in answers(asked.model, table, asked.told):
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
