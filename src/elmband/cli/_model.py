"""What commands do with models: open data for them, and put their answers into columns."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from elmband import ELMIntervalRegressor, ELMSelectiveClassifier, scan
from elmband.cli._files import named, readable
from elmband.cli._tables import batches, column_names, is_table
from elmband.encode import TableEncoder
from elmband.progress import shown


@contextmanager
def opened(
    data: str, *, encoder: Any = None, exclude: list[str] | None = None, **columns: Any
) -> Iterator[Any]:
    """Give a scan of a file, or of standard input; tables with names are encoded."""
    with readable(data) as path:
        table = is_table(path)
        if table and encoder is None:
            encoder = TableEncoder()
        if exclude:
            columns["features"] = _others(path, exclude, columns, table=table)
        try:
            yield scan(path, encoder=encoder if table else None, **columns)
        except ValueError as error:
            # The name of the file that standard input was kept in says nothing to people.
            raise ValueError(str(error).replace(path, named(data))) from error


def _others(path: str, exclude: list[str], columns: dict[str, Any], *, table: bool) -> list[str]:
    """Return the columns that are left to learn from."""
    if columns.get("features") or not table:
        raise ValueError(
            "--exclude is for tables whose columns have names, without --feature: name the "
            "columns to learn from."
        )
    names = column_names(path)
    unknown = [name for name in exclude if name not in names]
    if unknown:
        raise ValueError(f"--exclude names {unknown[0]!r}, which is none of the columns.")
    used = {*exclude, columns.get("target"), columns.get("weight")}
    return [name for name in names if name not in used]


def column(name: str | None) -> Any:
    """Return a column by name; a whole number is its place where columns have no names."""
    if name is None:
        return None
    try:
        return int(name)
    except ValueError:
        return name


def answers(
    model: Any, data: str, levels: list[float]
) -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Yield batches of a table, their features, and the predictions for their rows."""
    encoder = model.encoder_
    text = frozenset() if encoder is None else encoder.text_columns
    with shown("auto", None) as bar:
        if bar is not None:
            bar.begin("predict", None)
        for table in batches(data, text):
            X = _features(model, encoder, table)
            with without_names():
                columns = predicted(model, X, levels)
            yield table, X, columns
            if bar is not None:
                bar.advance(table.num_rows)


@contextmanager
def without_names() -> Iterator[None]:
    """Keep scikit-learn from asking for names: features were put into the right order by name."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        yield


def _features(model: Any, encoder: Any, table: Any) -> Any:
    if encoder is not None:
        return encoder.transform(table)
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        raise ValueError("The model was trained on columns without names; give it such a file.")
    missing = [name for name in names if name not in table.column_names]
    if missing:
        raise ValueError(f"The column {missing[0]!r} is missing, which the model was trained on.")
    return np.column_stack([table.column(name).to_numpy() for name in names])


def predicted(model: Any, X: Any, levels: list[float]) -> dict[str, Any]:
    """Return predictions of rows as columns."""
    if isinstance(model, ELMIntervalRegressor):
        mean, interval = model.predict(X, confidence_level=levels)
        mean = mean.reshape(len(mean), -1)
        interval = interval.reshape(len(mean), -1, 2, len(levels))
        columns: dict[str, Any] = {}
        for j in range(mean.shape[1]):
            end = f"_{j}" if mean.shape[1] > 1 else ""
            columns[f"mean{end}"] = mean[:, j]
            for k, level in enumerate(levels):
                columns[f"lower_{level:g}{end}"] = interval[:, j, 0, k]
                columns[f"upper_{level:g}{end}"] = interval[:, j, 1, k]
        return columns
    columns = {"label": model.predict(X)}
    for label, share in zip(model.classes_, model.predict_proba(X).T, strict=True):
        columns[f"probability_{label}"] = share
    if isinstance(model, ELMSelectiveClassifier):
        columns["confidence"] = model.confidence(X)
    return columns
