"""What rows are: numbers as layers take them, or a table that an encoder makes numbers of.

Every fit and every question goes through here.

- A table of plain numbers is trained on as it is. One with text, categories, dates or missing
  values is made into numbers by a `TableEncoder` that the fit learns, and so is an array of text.
- A model with an encoder, its own or that of a scan, finds the columns of a table by their names.
- What is encoded already is taken as it is: an array of numbers, or a table that has the names of
  all features where these are others than those of columns.
"""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from numbers import Real
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from array_api_compat import is_array_api_obj
from sklearn.utils.validation import check_array

from elmband.engines.cluster import is_dask
from elmband.ground.arrays import Array, to_numpy
from elmband.ground.callers import level_of_caller
from elmband.sources.encode import EncoderState, LevelsColumn, TableEncoder
from elmband.sources.encode.novelty import Novelty, tells_of_gaps
from elmband.sources.encode.tables import Table, object_table, table_of
from elmband.sources.stream import Scan

# So many columns are named in a sentence, and in a warning.
_NAMED, _TOLD = 10, 5


class EncodedRows(NamedTuple):
    """Rows to train on that were a table: their numbers, and the encoder that made them."""

    X: Array
    encoder: TableEncoder


def rows_to_fit(X: Any, sample_weight: Any) -> Any:
    """Return rows as they are, or encoded where they hold more than plain numbers."""
    if isinstance(X, Scan | EncodedRows) or is_dask(X) or _is_plain(X):
        return X
    encoder = TableEncoder().fit(X, sample_weight=sample_weight)
    return EncodedRows(encoder.transform(X), encoder)


def _is_plain(X: Any) -> bool:
    """Tell whether rows are numbers, none of them missing, or nothing that could be encoded."""
    try:
        table = table_of(X)
    except ValueError:
        if not _has_numbered_columns(X):
            raise
        return True
    if table is None:
        # NumPy makes text of numbers that stand beside text: what they were is gone.
        return object_table(X) is None or (isinstance(X, np.ndarray) and X.dtype.kind == "U")
    return all(_holds_numbers(column) for column in table.columns.values())


def _has_numbered_columns(X: Any) -> bool:
    """Tell whether a table of pandas holds plain numbers, which do without names of text."""
    # To ask a table that is not computed yet for its columns may be work.
    if hasattr(X, "collect") or not getattr(getattr(X, "columns", None), "is_unique", False):
        return False
    values = np.asarray(X)
    return values.dtype.kind in "biuf" and not np.isnan(values).any()


def _holds_numbers(column: nw.Series[Any]) -> bool:
    """Tell whether a column of a table holds numbers or booleans, none of them missing."""
    dtype = column.dtype
    if dtype == nw.Object:
        kinds = (Real, Decimal, np.bool_)
        values = column.to_numpy()
        return all(isinstance(value, kinds) and not _is_nan(value) for value in values)
    if not (dtype.is_numeric() or dtype == nw.Boolean) or column.null_count():
        return False
    return not (dtype.is_float() and bool(column.is_nan().any()))


def _is_nan(value: Any) -> bool:
    return bool(value != value)  # noqa: PLR0124 - only NaN is not itself


def note_table(model: Any, rows: EncodedRows) -> Array:
    """Note the columns of the table that a model is trained on, and return its numbers.

    As everywhere in scikit-learn, features are what was given: the columns.
    """
    model.n_features_in_ = rows.encoder.n_features_in_
    if rows.encoder.state_.named:
        model.feature_names_in_ = rows.encoder.feature_names_in_
    elif hasattr(model, "feature_names_in_"):
        del model.feature_names_in_
    return check_array(rows.X, ensure_min_samples=2, input_name="X", estimator=model)


def inputs_of(model: Any, X: Any, method: str, *, finite: bool) -> Array:
    """Return new rows as the numbers that a model with an encoder was trained on.

    A warning tells of rows that are unlike those of the fit.
    """
    state = model.fitted_.inputs.encoder
    table = None if is_array_api_obj(X) and not isinstance(X, np.ndarray) else table_of(X)
    if table is not None and table.named:
        encoded = _encoded_columns(table, state)
        if encoded is None:
            return _encoded(model, state, table, X, method)
        return _checked(model, state, encoded, finite=finite)
    text = object_table(X) is not None if table is None else not _is_plain(X)
    if not state.named and (text or _width(X) not in (None, len(state.names))):
        return _encoded(model, state, table, X, method)
    if text:
        raise ValueError(
            f"X has no names of columns; {type(model).__name__} takes a table with the columns "
            f"{_listed(_columns(state))}."
        )
    return _checked(model, state, X, finite=finite)


def _encoded_columns(table: Table, state: EncoderState) -> Array | None:
    """Return the features that a table has by their names, None if it has only columns."""
    names = set(state.names)
    if not names <= table.columns.keys() or names <= {column.name for column in state.columns}:
        return None
    return np.column_stack([table.columns[name].to_numpy() for name in state.names])


def _encoded(model: Any, state: EncoderState, table: Table | None, X: Any, method: str) -> Array:
    if table is not None and state.named:
        _check_columns(type(model).__name__, _columns(state), list(table.columns))
    encoder = TableEncoder.from_state(state)
    found = encoder.transform(X)
    warn_unlike(model, encoder, X, method)
    return found


def _check_columns(model: str, wanted: Sequence[str], given: Sequence[str]) -> None:
    """Refuse a table without some columns, and say which of it may be meant."""
    lacking = [name for name in wanted if name not in given]
    if not lacking:
        return
    parts = []
    for name in lacking[:_NAMED]:
        close = [one for one in get_close_matches(name, given, n=2) if one not in wanted]
        parts.append(f"{name!r}" + (f" (did you mean {close[0]!r}?)" if close else ""))
    more = f" and {len(lacking) - _NAMED} more" if len(lacking) > _NAMED else ""
    what = "columns" if len(lacking) > 1 else "column"
    raise ValueError(f"X has no {what} {', '.join(parts)}{more}, which {model} was trained on.")


def _checked(model: Any, state: EncoderState, X: Any, *, finite: bool) -> Array:
    """Check numbers that are features already."""
    if state.named and _width(X) is None:
        raise ValueError(
            f"X is of type {type(X).__name__}; {type(model).__name__} takes a table with the "
            f"columns {_listed(_columns(state))}, as pandas.DataFrame([row]) makes of one row."
        )
    X = check_array(X, dtype="numeric", ensure_all_finite=finite, input_name="X", estimator=model)
    if X.shape[1] != len(state.names):
        columns = _columns(state)
        what = f"the columns {_listed(columns)}" if state.named else f"{len(columns)} columns"
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(model).__name__} is expecting "
            f"{len(state.names)} features as input, or a table with {what}."
        )
    return X


def check_encoded(model: Any, example: Any) -> None:
    """Refuse a Dask collection, of which this is an example, that is not encoded already."""
    names = getattr(example, "columns", None)
    wanted = list(model.fitted_.inputs.names or ())
    if example.shape[1] != len(wanted) or (names is not None and list(names) != wanted):
        raise ValueError(
            f"{type(model).__name__} was trained on a table that an encoder makes numbers of, "
            "which is not done to Dask collections: give a scan of the files, as in "
            "scan(..., encoder=model.encoder_)."
        )


def _columns(state: EncoderState) -> list[str]:
    return [column.name for column in state.used]


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(repr, names[:_NAMED])) + more


def _width(X: Any) -> int | None:
    shape = np.shape(to_numpy(X) if is_array_api_obj(X) else X)
    return int(shape[1]) if len(shape) == 2 else None


def warn_unlike(model: Any, encoder: TableEncoder, X: Any, method: str) -> None:
    """Warn once of the rows of a table that are unlike those of the fit."""
    found = encoder.novelty(X)
    # Rows that are trained on beside others may well lie beyond these.
    notes = [*_of_new_values(model, found)] if method == "partial_fit" else notes_on(model, found)
    if notes:
        warnings.warn(" ".join(notes), UserWarning, stacklevel=level_of_caller())


def notes_on(model: Any, found: Novelty) -> list[str]:
    """Say how many rows leave the range of the training rows, or have values they had none of."""
    return [*_of_ranges(model, found), *_of_new_values(model, found)]


def _of_ranges(model: Any, found: Novelty) -> Iterator[str]:
    if found.is_beyond_chance(model.fitted_.inputs.encoder):
        yield (
            f"{found.rows_beyond:,} of {_rows(found)} lie beyond the training rows, in "
            f"{_largest(found.beyond)}: intervals say little there."
        )


def _of_new_values(model: Any, found: Novelty) -> Iterator[str]:
    if found.rows_new:
        state: EncoderState = model.fitted_.inputs.encoder
        filled = {column.name for column in state.used if tells_of_gaps(column)}
        unseen = {name: count for name, count in found.unseen.items() if name not in filled}
        yield (
            f"{found.rows_new:,} of {_rows(found)} have values that the training rows had none of, "
            f"in {_largest(unseen)}: {_consequence(model, state, unseen)}."
        )


def _consequence(model: Any, state: EncoderState, unseen: Mapping[str, int]) -> str:
    """Say what new values in some columns do to intervals."""
    text = {column.name for column in state.used if isinstance(column, LevelsColumn)}
    if model.fitted_.new_levels is None or not text.issuperset(unseen):
        return "means stand for them, so that intervals are too narrow"
    return "intervals allow for as much as the known levels differ"


def _rows(found: Novelty) -> str:
    return f"{found.n:,} row{'' if found.n == 1 else 's'}"


def _largest(counts: Mapping[str, int]) -> str:
    """Return the columns with the largest counts first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    more = f" and {len(ranked) - _TOLD} more columns" if len(ranked) > _TOLD else ""
    return ", ".join(f"{name} ({count:,})" for name, count in ranked[:_TOLD]) + more
