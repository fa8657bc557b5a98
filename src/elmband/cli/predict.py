"""``elmband predict``: every row with its prediction and its interval."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from elmband import ELMIntervalRegressor, scan
from elmband.cli._cluster import (
    check_spread,
    seen_from,
    spread_answers,
    workers_of,
)
from elmband.cli._dialect import asked_csv
from elmband.cli._files import destination, loaded, named, readable, writable
from elmband.cli._model import (
    answers,
    features_of,
    opened_table,
    predicted,
    without_names,
)
from elmband.cli._options import check_inputs, tell
from elmband.cli._outputs import check_outputs
from elmband.cli._status import note
from elmband.cli._write import check_ending_for, check_escaping, table_writers
from elmband.cli.commands._shared import check_ending
from elmband.engines.cluster import Answers
from elmband.estimators.tables import notes_on
from elmband.ground.wording import counted
from elmband.sources.encode.novelty import Novelty
from elmband.sources.stream.file_table import FileTable, TableRows, with_columns
from elmband.sources.stream.files import find_files, is_table
from elmband.sources.stream.pieces import refuse_dialect


def predict(
    *,
    model: str,
    data: str,
    output: str,
    level: list[float] | None,
    keep: list[str] | None,
    keep_all: bool,
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
    check_outputs([output], [model, data], folders=spread)
    if spread:
        check_spread(data, scheduler, (output,))
    else:
        check_ending_for(output, data)
    if escape_formulas:
        check_escaping([output])
    csv = asked_csv(delimiter, decimal, encoding)
    begun = perf_counter()
    fitted, data = loaded(model), seen_from(data, scheduler)
    with workers_of(workers, scheduler) as client, readable(data) as path:
        kept = None if keep_all else list(dict.fromkeys(keep or []))
        # Files of numbers have no text: names of their columns begin with words of ours.
        if is_table(path):
            check_ending(output)
            table = opened_table(fitted, path, kept, (output,), csv, data)
            writer = partial(table_writers, [output], escape_formulas=escape_formulas)
            found = _from_table(fitted, table, output, level or [0.95], kept, client, writer=writer)
        else:
            refuse_dialect(csv, named(data))
            found = _from_numbers(fitted, path, output, level or [0.95], kept, client)
    facts = {
        "output": output,
        "model": named(model),
        "data": named(data),
        "rows": found.n,
        "beyond": dict(found.beyond),
        "unseen": dict(found.unseen),
        "seconds": round(perf_counter() - begun, 3),
    }
    _tell_novelty(fitted, found)
    text = f"{counted(found.n, 'row')} predicted, written to {destination(output)}"
    tell(facts, text, as_json=as_json, outputs=(output,))


def _from_table(
    model: Any,
    table: FileTable,
    output: str,
    levels: list[float],
    keep: list[str] | None,
    client: Any,
    *,
    writer: Callable[[], AbstractContextManager[list[Callable[[Any], None]]]],
) -> Novelty:
    """Predict rows whose columns have names."""
    if client is not None:
        answer = partial(_answered, model=model, levels=levels, keep=keep)
        sums: Novelty = spread_answers(client, table, answer, (output,)).sums
        return sums
    met, unknown = None, 0
    with writer() as (write,):
        for rows, columns in answers(model, table, partial(predicted, levels=levels)):
            write(with_columns(rows.copied, columns, keep))
            found = _novelty(model, rows.seen)
            met = found if met is None else met + found
            unknown += _unbounded(columns)
    _tell_unbounded(unknown)
    assert met is not None
    return met


def _from_numbers(
    model: Any, path: str, output: str, levels: list[float], keep: list[str] | None, client: Any
) -> Novelty:
    """Predict rows of numbers, which have no names to keep."""
    if keep or keep is None:
        find_files(path)  # which knows names that cannot be read at all
        raise ValueError("--keep and --keep-all are for tables whose columns have names.")
    rows = scan(path, features=range(model.n_features_in_))
    with writable(output, ".csv") as out:
        if isinstance(model, ELMIntervalRegressor):
            model.predict_interval(rows, levels, out=out, client=client)
        else:
            model.predict_proba(rows, out=out, client=client)
    return Novelty(rows.n_rows or 0)


def _answered(rows: TableRows, model: Any, levels: list[float], keep: list[str] | None) -> Answers:
    """Return what a worker writes of the rows that it has read."""
    with without_names():
        columns = predicted(model, features_of(model, rows.seen), levels)
    return Answers((with_columns(rows.copied, columns, keep),), _novelty(model, rows.seen))


def _novelty(model: Any, table: Any) -> Novelty:
    """Count what a model was not trained for in some rows of a table."""
    if model.encoder_ is None:
        return Novelty(table.num_rows)
    return model.encoder_.novelty(table)  # type: ignore[no-any-return]


def _tell_novelty(model: Any, found: Novelty) -> None:
    """Say how many rows leave the range of the training rows, or have values they had none of."""
    for sentence in () if model.encoder_ is None else notes_on(model, found):
        note(sentence)


def _unbounded(columns: Mapping[str, Any]) -> int:
    """Count rows of which nothing is known: their intervals are infinite."""
    bounds = [values for name, values in columns.items() if name.startswith(("lower_", "upper_"))]
    return int(np.isinf(bounds).any(axis=0).sum()) if bounds else 0


def _tell_unbounded(count: int) -> None:
    """Say that there are infinite bounds, and where they come from."""
    if count:
        note(
            f"{counted(count, 'row')} have infinite bounds, as where a value is too large to "
            "compute with, such as 1e308: nothing is known of them."
        )
