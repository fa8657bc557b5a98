"""``elmband predict``: every row with its prediction and its interval."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from time import perf_counter
from typing import Any

from elmband import ELMIntervalRegressor, scan
from elmband.cli._cluster import check_spread, seen_from, workers_of
from elmband.cli._dialect import asked_csv, tell_dialect
from elmband.cli._files import destination, loaded, named, readable, writable
from elmband.cli._model import answers, features_of, kinds_of, predicted, told_of, without_names
from elmband.cli._novelty import facts_of, novelty, tell_novelty, tell_unbounded, unbounded
from elmband.cli._options import check_inputs, tell
from elmband.cli._outputs import check_outputs
from elmband.cli._spread import spread_answers
from elmband.cli._tables import Table, TableRows, is_table, opened_table, with_columns
from elmband.cli._write import check_ending_for, check_escaping, table_writer
from elmband.cli.commands._shared import check_ending
from elmband.engines.cluster import Answers
from elmband.ground.wording import counted
from elmband.sources.encode.novelty import Novelty
from elmband.sources.stream.files import find_files
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
    with workers_of(workers, scheduler) as client, readable(data) as path, told_of(data, path):
        kept = None if keep_all else list(dict.fromkeys(keep or []))
        # Files of numbers have no text: names of their columns begin with words of ours.
        if is_table(path):
            check_ending(output)
            table = opened_table(path, kinds_of(fitted), kept, (output,), csv)
            tell_dialect(table.seen.pieces, csv, named(data))
            writer = partial(table_writer, output, escape_formulas=escape_formulas)
            found = _from_table(fitted, table, output, level or [0.95], kept, client, writer=writer)
        else:
            refuse_dialect(csv, named(data))
            found = _from_numbers(fitted, path, output, level or [0.95], kept, client)
    facts = {
        "output": output,
        "model": named(model),
        "data": named(data),
        "rows": found.n,
        **facts_of(found),
        "seconds": round(perf_counter() - begun, 3),
    }
    tell_novelty(fitted, found)
    text = f"{counted(found.n, 'row')} predicted, written to {destination(output)}"
    tell(facts, text, as_json=as_json, outputs=(output,))


def _from_table(
    model: Any,
    table: Table,
    output: str,
    levels: list[float],
    keep: list[str] | None,
    client: Any,
    *,
    writer: Callable[[], AbstractContextManager[Callable[[Any], None]]],
) -> Novelty:
    """Predict rows whose columns have names."""
    if client is not None:
        answer = partial(_answered, model=model, levels=levels, keep=keep)
        sums: Novelty = spread_answers(client, table, answer, (output,)).sums
        return sums
    met, unknown = None, 0
    with writer() as write:
        for rows, columns in answers(model, table, partial(predicted, levels=levels)):
            write(with_columns(rows.copied, columns, keep))
            found = novelty(model, rows.seen)
            met = found if met is None else met + found
            unknown += unbounded(columns)
    tell_unbounded(unknown)
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
    return Novelty(rows.n_rows or 0, 0, 0, 0, 0, {}, {})


def _answered(rows: TableRows, model: Any, levels: list[float], keep: list[str] | None) -> Answers:
    """Return what a worker writes of the rows that it has read."""
    with without_names():
        columns = predicted(model, features_of(model, rows.seen), levels)
    return Answers((with_columns(rows.copied, columns, keep),), novelty(model, rows.seen))
