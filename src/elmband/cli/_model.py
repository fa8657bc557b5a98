"""What commands do with models: open data for them, and put their answers into columns."""

import math
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier
from elmband.cli._dialect import tell_dialect, tell_names
from elmband.cli._files import named, readable
from elmband.cli._groups import check_column
from elmband.engines.progress import shown
from elmband.estimators.ask import ask
from elmband.ground.wording import counted
from elmband.models.classes import all_question
from elmband.models.intervals import level_name
from elmband.sources.encode import TableEncoder
from elmband.sources.encode.raw import ColumnError, Numbers, PlacedError, Where, Words, at
from elmband.sources.encode.read import read_column
from elmband.sources.encode.written import quoted, read_numbers
from elmband.sources.stream import Scan
from elmband.sources.stream.csv_dialect import CsvDialect
from elmband.sources.stream.file_table import FileTable, TableRows, file_table
from elmband.sources.stream.files import is_table, kind_of
from elmband.sources.stream.sources import as_source

_AS_FOUND = CsvDialect()


@contextmanager
def opened(
    data: str,
    *,
    encoder: Any = None,
    exclude: list[str] | None = None,
    groups: str | None = None,
    widest: float = math.inf,
    csv: CsvDialect = _AS_FOUND,
    remembered: str | None = None,
    drop_missing: bool = False,
    plain: bool = False,
    **columns: Any,
) -> Iterator[Any]:
    """Give a scan of a file, or of standard input; tables with names are encoded, but `plain` ones.

    More columns than the `widest` table may have are refused before any are read. A column of
    `groups` is none of the features. CSV files are written as `csv` says. `remembered` is a target
    that the model knows, and that nobody asked for.
    """
    with readable(data) as path:
        table, learning = is_table(path), not plain and not hasattr(encoder, "state_")
        if table and encoder is None and not plain:
            encoder = TableEncoder()
        source = as_source(path, csv)
        parts = source.parts
        names = list(parts[0].layout.fields) if table else []
        if remembered is not None and names and remembered not in names:
            raise ValueError(
                f"{named(data)} has no column {remembered!r}, which the model was trained to "
                "predict; name the column with the truth with --target."
            )
        columns = {role: _resolved(chosen, names) for role, chosen in columns.items()}
        if exclude:
            columns["features"] = _others(names, exclude, columns)
        if groups is not None:
            check_column(groups, names, (columns["target"], columns["weight"]), data)
            others = columns["features"] or _others(names, [groups], columns)
            columns["features"] = [name for name in others if name != groups]
        if table and widest < math.inf:
            check_width(len(columns.get("features") or names), data, widest)
        columns["encoder"] = encoder if table else None
        rows = Scan(source, missing_target="drop" if drop_missing else "refuse", **columns)
        if table:
            tell_dialect(parts, csv, named(data))
            if learning:
                said = columns["encoder"].types or {}
                tell_names(parts, _learned_from(names, columns) - said.keys(), named(data))
        yield rows


def _learned_from(names: list[str], columns: dict[str, Any]) -> set[str]:
    """Return the names of the columns to learn from."""
    known: dict[Any, str] = {**dict(enumerate(names)), **{name: name for name in names}}
    goals = {known.get(columns.get(role)) for role in ("target", "weight")}
    used = (known.get(ref) for ref in columns.get("features") or names)
    return {name for name in used if name is not None and name not in goals}


def check_width(count: int, data: str, widest: float) -> None:
    """Refuse tables of so many features that memory would run out unnoticed."""
    if count > widest:
        raise ValueError(
            f"{named(data)} has {count:,} columns or features, and beyond {widest:,} memory and "
            "time grow with their square: choose some with --feature, leave some out with "
            "--exclude, or take --published."
        )


def _others(names: list[str], exclude: list[str], columns: dict[str, Any]) -> list[str]:
    """Return the columns that are left to learn from."""
    if columns.get("features") or not names:
        raise ValueError(
            "--exclude is for tables whose columns have names, without --feature: name the "
            "columns to learn from."
        )
    unknown = [name for name in exclude if name not in names]
    if unknown:
        raise ValueError(f"--exclude names {unknown[0]!r}, which is none of the columns.")
    used: set[Any] = set(exclude)
    for role in ("target", "weight"):
        chosen = columns.get(role)
        used.add(names[chosen] if isinstance(chosen, int) and chosen < len(names) else chosen)
    return [name for name in names if name not in used]


def _resolved(chosen: Any, names: list[str]) -> Any:
    """Return a column, or each of a list, by its name; a number that is none is a place."""
    if isinstance(chosen, list):
        return [_resolved(one, names) for one in chosen]
    return chosen if chosen is None or chosen in names else whole_number(chosen)


def whole_number(text: str) -> Any:
    """Return the number that a text stands for, or the text."""
    try:
        return int(text)
    except ValueError:
        return text


def answers(
    model: Any, table: FileTable, tell: Callable[[Any, Any], dict[str, Any]]
) -> Iterator[tuple[TableRows, dict[str, Any]]]:
    """Yield batches of a table, and what a model is made to `tell` of their features."""
    count = 0
    with shown("auto", None) as bar:
        if bar is not None:
            bar.begin("predict", None)
        for rows in table.chunks():
            with in_file(table.label, count):
                X = features_of(model, rows.seen)
            with without_names():
                columns = tell(model, X)
            yield rows, columns
            count += rows.seen.num_rows
            if bar is not None:
                bar.advance(rows.seen.num_rows)
    if not count:
        raise ValueError(f"{table.label} has no rows; there is nothing to predict.")


def opened_table(
    model: Any,
    path: str,
    keep: list[str] | None,
    outputs: tuple[str, ...],
    csv: CsvDialect,
    data: str,
) -> FileTable:
    """Open a table, known as `data`, for a model, and columns to keep in files named `outputs`."""
    parts = as_source(path, csv).parts
    typed = any(kind_of(Path(name)) not in ("csv", None) for name in outputs)
    table = file_table(path, parts, kinds_of(model), keep, typed=typed)
    tell_dialect(parts, csv, named(data))
    return table


@contextmanager
def without_names() -> Iterator[None]:
    """Keep scikit-learn from asking for names: features were put into the right order by name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def kinds_of(model: Any) -> dict[str, str]:
    """Return what the model takes each of its columns for."""
    if model.encoder_ is not None:
        state = model.encoder_.state_
        as_text = state.text_columns
        return {c.name: "text" if c.name in as_text else c.kind for c in state.used}
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError("The model was trained on columns without names; give it such a file.")
    return dict.fromkeys(map(str, names), "numbers")


@contextmanager
def in_file(path: str, first: int | None) -> Iterator[None]:
    """Say in which file a column is wrong, and in which rows where `first` tells their place."""
    try:
        yield
    except PlacedError as error:
        where, name, reason = error.args
        if first is None:
            raise ValueError(f"{path}: column {name!r} {reason}") from error
        place = Where(path, first + where.first, where.n_rows)
        raise PlacedError(place, name, reason) from error


def features_of(model: Any, table: Any) -> Any:
    """Return the numbers that a model needs of a table."""
    encoder = model.encoder_
    if encoder is not None:
        return encoder.transform(table)
    names = model.feature_names_in_
    return np.column_stack([_finite(name, _numbers(name, table.column(name))) for name in names])


def _numbers(name: str, column: Any) -> Any:
    """Return a column as numbers, which text may be; refuse all else."""
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values
    with at(Where("X", 0, len(values)), name):
        raw = read_column(column)
        if isinstance(raw, Words):
            return _written_numbers(raw)
        if raw.missing.all():
            return np.full(len(values), np.nan)
        if not isinstance(raw, Numbers) or raw.kind != "numbers":
            raise ColumnError(f"holds {raw.kind}; the model was trained on numbers; convert it.")
        return raw.values


def _written_numbers(words: Words) -> Any:
    values, absent = read_numbers(words.levels)
    rows = np.flatnonzero(np.append(np.isnan(values) & ~absent, False)[words.codes]).tolist()
    if rows:
        raise ColumnError(
            f"holds {quoted(words.levels[words.codes[rows[0]]])}, which is not a number; the "
            "model was trained on numbers: mend it, or leave out that row.",
            rows[0],
        )
    return np.append(values, np.nan)[words.codes]


def _finite(name: str, values: Any) -> Any:
    """Refuse values that a model without an encoder has no rule for."""
    count = int(np.count_nonzero(~np.isfinite(values)))
    with at(Where("X", 0, len(values)), name):
        if count:
            raise ColumnError(
                f"holds {counted(count, 'missing or infinite value')}; fill them in, or leave out "
                "these rows."
            )
    return values


def predicted(model: Any, X: Any, levels: list[float]) -> dict[str, Any]:
    """Return predictions of rows as columns."""
    if isinstance(model, ELMIntervalRegressor):
        mean, interval = model.predict(X, confidence_level=levels)
        return _of_numbers(mean, interval, levels)
    if not hasattr(model, "classes_"):
        return {"mean": model.predict(X)}
    return _of_classes(model, ask(model, X, all_question()))


def triaged(model: Any, X: Any, max_width: float | None, level: float) -> dict[str, Any]:
    """Return the same with the reason why a row is accepted or not, from one look at the rows."""
    if isinstance(model, ELMSelectiveClassifier):
        deciding = model.fitted_.deciding
        assert deciding is not None
        return _of_classes(model, ask(model, X, all_question(deciding.thresholds)))
    found = model.triage(X, max_width=max_width, confidence_level=level)
    return {**_of_numbers(found.mean, found.interval, [level]), "reason": found.reason}


def _of_numbers(mean: Any, interval: Any, levels: list[float]) -> dict[str, Any]:
    """Return means and intervals as columns."""
    mean = mean.reshape(len(mean), -1)
    interval = interval.reshape(len(mean), -1, 2, len(levels))
    columns: dict[str, Any] = {}
    for j in range(mean.shape[1]):
        end = f"_{j}" if mean.shape[1] > 1 else ""
        columns[f"mean{end}"] = mean[:, j]
        for k, level in enumerate(levels):
            columns[f"lower_{level_name(level)}{end}"] = interval[:, j, 0, k]
            columns[f"upper_{level_name(level)}{end}"] = interval[:, j, 1, k]
    return columns


def _of_classes(model: Any, found: tuple[Any, ...]) -> dict[str, Any]:
    """Return labels, probabilities and what else was asked for as columns."""
    label, shares, *others = found
    columns = {f"probability_{one}": shares[:, k] for k, one in enumerate(model.classes_)}
    named = dict(zip(("confidence", "reason"), others, strict=False))
    return {"label": label, **columns, **named}
