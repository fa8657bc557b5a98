"""A table of numbers, text, dates and missing values to numbers, as a scikit-learn transformer."""

import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from elmband.ground.arrays import Array, to_numpy
from elmband.sources.encode.learn import learned, sum_table
from elmband.sources.encode.notes import ColumnWarning
from elmband.sources.encode.novelty import Novelty, novelty_of
from elmband.sources.encode.raw import RawRows, at
from elmband.sources.encode.rules import Rules, checked_rules
from elmband.sources.encode.saving import write_encoder
from elmband.sources.encode.state import DroppedColumn, EncoderState
from elmband.sources.encode.summary import described
from elmband.sources.encode.tables import Table, array_table, object_table, table_of, weights_of


class TableEncoder(TransformerMixin, BaseEstimator):
    """Tables as people have them, as numbers.

    - Numbers stay, and booleans are 0 and 1. Text that is numbers, with marks of absence such as
      ``-`` among them, becomes these; with a few words among them it is refused.
    - Text and categories are one-hot: a column of 0 and 1 for each frequent level, and one for all
      other levels: ``x=other``. Where these are more than 50, it also stands for levels that come
      later; fewer tell little of another one, and are remembered by name.
    - Dates become the year as a number that goes on between its days, and the day of the year, the
      day of the week and the time of day as sine and cosine. Dates with a time zone are taken
      on the clocks of the zone that the fit saw. Text is read as dates where all of it is, in one
      format, and a day above 12 tells the order. Durations are in seconds.
    - Missing values take the mean of the fit and are marked in a column ``x=missing``; missing
      text has such a column and nothing else.

    Only what varied in the fit becomes a feature: constant columns, text without any frequent level
    (names of rows) and parts of dates that are always the same are left out, and so are marks of
    missing values where none are. `summary` tells. A value that the fit has not seen and that no
    feature stands for takes the mean of the fit in all features of its column; `unseen` counts
    these.

    The fit is one pass in memory that does not grow with the rows: in memory, or over the files of
    an :func:`elmband.scan`. Its result does not depend on chunks or on the order of rows, as long
    as no column of text has more than 100,000 levels. Beyond, a count may lack up to one row in
    100,000 rows.

    Parameters
    ----------
    max_levels : "auto" or int, default="auto"
        Levels of a column of text that have a feature each, at most. By default all frequent ones
        do, as long as the features of all columns of text are at most a tenth of the rows, and 300;
        otherwise the columns with most levels keep fewer, and any column 50.
    min_count : "auto" or number, default="auto"
        Rows that such a level must have in the fit. By default a thousandth of all rows, 5 at
        least; with fewer than 50 rows, a tenth of them, 2 at least.
    categorical : list of str, default=None
        Columns whose numbers are names, such as codes of places; the same as `types` with "text".
    types : mapping from str to str, default=None
        What columns are, whatever they look like: "number" (text that is none is missing, and how
        often is told), "text" (categories; whole numbers have no point), "date", "date:dmy",
        "date:mdy" or "date:ymd" (with the order of day, month and year in text), or "ignore". In a
        CSV file these columns are read as text.
    dtype : {"auto", "float32", "float64"}, default="auto"
        Of the features. By default float32 where it holds all numbers exactly and there are no
        dates, else float64.

    Attributes
    ----------
    state_ : EncoderState
        All that the fit has learned, in plain values that can be stored.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : array of str
        Names of these columns, where they have names.

    Examples
    --------
    >>> import polars as pl
    >>> table = pl.DataFrame({
    ...     "size": [1.5, None, 2.5, 2.0],
    ...     "colour": ["red", "blue", "red", "blue"],
    ... })
    >>> encoder = TableEncoder().fit(table)
    >>> encoder.get_feature_names_out().tolist()
    ['size', 'size=missing', 'colour=blue', 'colour=red']
    >>> encoder.transform(table)
    array([[1.5, 0. , 0. , 1. ],
           [2. , 1. , 1. , 0. ],
           [2.5, 0. , 0. , 1. ],
           [2. , 0. , 1. , 0. ]])
    """

    state_: EncoderState

    def __init__(
        self,
        max_levels: int | Literal["auto"] = "auto",
        *,
        min_count: float | Literal["auto"] = "auto",
        categorical: Iterable[str] | None = None,
        types: Mapping[str, str] | None = None,
        dtype: Literal["auto", "float32", "float64"] = "auto",
    ) -> None:
        self.max_levels = max_levels
        self.min_count = min_count
        self.categorical = categorical
        self.types = types
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn levels, means and which columns vary, in one pass.

        Parameters
        ----------
        X : table, array or scan
            A table of pandas, Polars, Arrow or any library that narwhals knows, an array, or a
            scan, whose features are read as they are in the files.
        y : ignored
            A scan has its target with it; if that is text, its levels are learned.
        sample_weight : array (n,), default=None
            How often each row counts; a scan has its weights with it.
        """
        del y
        rules = self._rules()
        if hasattr(X, "raw_rows"):
            if sample_weight is not None:
                raise ValueError("Weights are part of a scan: name them there, scan(..., weight=).")
            return self._learn(X.raw_rows(), rules)
        table = self._table(X, reset=True)
        return self._learn(table.blocks(weights_of(sample_weight, table)), rules)

    def _learn(self, rows: Iterator[RawRows], rules: Rules) -> Self:
        sums = sum_table(rows, rules)
        if sums is None:
            raise ValueError(
                "There is no row with a weight above zero and a target to fit the encoder on."
            )
        names = None if self.categorical is None else sorted(self.categorical)
        types = None if self.types is None else dict(self.types)
        parameters = {**self.get_params(deep=False), "categorical": names, "types": types}
        self._take(learned(sums, rules, parameters))
        for note in self.state_.notes:
            if note.is_warning:
                warnings.warn(note.sentence(), ColumnWarning, stacklevel=3)
        return self

    def _take(self, state: EncoderState) -> None:
        self.state_ = state
        self.n_features_in_ = len(state.columns)
        if state.named:
            names = [column.name for column in state.columns]
            self.feature_names_in_ = np.asarray(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def transform(self, X: Any) -> Array:
        """Return the features of a table or an array, (n, number of features).

        Columns are found by name, in any order; others are left alone.
        """
        check_is_fitted(self)
        if hasattr(X, "raw_rows"):
            raise ValueError("A scan is encoded while it is read: give it to scan(..., encoder=).")
        table = self._table(X, reset=False)
        out = np.empty((table.n_rows, len(self.state_.names)), self.state_.dtype)
        for rows in table.blocks():
            first, n = rows.where.first, rows.where.n_rows
            self.state_.encode(rows.columns, rows.where, out[first : first + n])
        return out

    def _table(self, X: Any, *, reset: bool) -> Table:
        """Return whatever a user hands over; with a fit before, the columns of that."""
        table = table_of(X)
        table = object_table(X) if table is None else table
        if table is None:
            if not reset and self.state_.named:
                raise ValueError("X has no names of columns as those of the fit; give a table.")
            how = {"dtype": "numeric", "ensure_all_finite": "allow-nan", "reset": reset}
            array = to_numpy(validate_data(self, X, **how))
            table = array_table(list(array.T), len(array))
        if table.n_rows == 0 or not table.columns:
            raise ValueError(f"X has no {'columns' if table.n_rows else 'rows'}.")
        return table if reset else table.like(self.state_)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array of str, default=None
            Names of the columns, for an encoder that was fitted on an array.
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is None:
            names = self.state_.names
        elif known is not None and list(input_features) != list(known):
            raise ValueError("input_features is not equal to feature_names_in_")
        elif len(input_features) != self.n_features_in_:
            raise ValueError(
                f"input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(input_features)}"
            )
        else:
            names = self.state_.names_from(list(input_features))
        return np.asarray(names, dtype=object)

    @property
    def target_levels_(self) -> Array | None:
        """Levels of a target that is text, sorted; chunks have the places 0, 1, ... among them.

        None for a target of numbers and without a target.
        """
        target = self._fitted("target_levels_").target
        return None if target is None else np.asarray(target.levels)

    @property
    def dropped_(self) -> dict[str, str]:
        """Columns of which nothing is left, and why."""
        columns = self._fitted("dropped_").columns
        return {c.name: c.reason for c in columns if isinstance(c, DroppedColumn)}

    def summary(self) -> str:
        """Return what became of every column, a line for each."""
        check_is_fitted(self)
        return described(self.state_)

    def unseen(self, X: Any) -> dict[str, int]:
        """Count the values that the fit has not seen and that take the mean of the fit.

        These are missing values in a column that had none, and levels of text that come later in a
        column where at most 50 levels of the fit share a feature. X is a table or an array. Columns
        without such values are not listed.
        """
        counts = dict.fromkeys((column.name for column in self._fitted("unseen").used), 0)
        for marks in self._unseen(X):
            for name, unseen in marks.items():
                counts[name] += int(np.count_nonzero(unseen))
        return {name: count for name, count in counts.items() if count}

    def unlike_fit(self, X: Any) -> Array:
        """Tell which rows of a table have values that `unseen` counts, (n,)."""
        check_is_fitted(self)
        blocks = [np.any(list(marks.values()), axis=0) for marks in self._unseen(X)]
        found: Array = np.concatenate(blocks)
        return found

    def _unseen(self, X: Any) -> Iterator[dict[str, Array]]:
        """Tell block by block and column by column which values the fit has not seen."""
        check_is_fitted(self)
        for rows in self._table(X, reset=False).blocks():
            marks = {}
            for column in self.state_.used:
                with at(rows.where, column.name):
                    raw = self.state_.read(column, rows.columns[column.name])
                    marks[column.name] = column.unseen(raw)
            yield marks

    def novelty(self, X: Any) -> Novelty:
        """Count rows of a table that leave what the fit has seen, and their values by column."""
        state = self._fitted("novelty")
        return novelty_of(state, self._table(X, reset=False).blocks())

    def save(self, path: str | Path) -> Path:
        """Write the fitted encoder to a .safetensors file, to be read by `elmband.load`.

        The file holds numbers and text only: nothing in it is run when it is loaded.
        """
        check_is_fitted(self)
        return write_encoder(self.state_, path)

    @classmethod
    def from_state(cls, state: EncoderState) -> Self:
        """Return a fitted encoder with the `state_` of another."""
        encoder = cls(**state.parameters)
        encoder._take(state)
        return encoder

    def _fitted(self, name: str) -> EncoderState:
        if not hasattr(self, "state_"):
            raise AttributeError(f"{name} exists once the encoder is fitted.")
        return self.state_

    @property
    def text_columns(self) -> frozenset[str]:
        """Columns that are to be read as text where a file does not tell types.

        Those that were text in the fit are, even if in another file they hold numbers only.
        """
        chosen = {name for name, kind in self._rules().types.items() if kind != "ignore"}
        state = getattr(self, "state_", None)
        return frozenset(chosen if state is None else chosen | state.text_columns)

    def _rules(self) -> Rules:
        return checked_rules(
            self.max_levels, self.min_count, self.categorical, self.dtype, self.types
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
