"""What is said of rows that are unlike those a model was trained on."""

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from elmband.ground.callers import level_of_caller
from elmband.sources.encode import EncoderState, LevelsColumn, TableEncoder
from elmband.sources.encode.novelty import Novelty, tells_of_gaps

# So many columns are named.
_NAMED = 5


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
            f"{_columns(found.beyond)}: intervals say little there."
        )


def _of_new_values(model: Any, found: Novelty) -> Iterator[str]:
    if found.rows_new:
        state: EncoderState = model.fitted_.inputs.encoder
        filled = {column.name for column in state.used if tells_of_gaps(column)}
        unseen = {name: count for name, count in found.unseen.items() if name not in filled}
        yield (
            f"{found.rows_new:,} of {_rows(found)} have values that the training rows had none of, "
            f"in {_columns(unseen)}: {_consequence(model, state, unseen)}."
        )


def _consequence(model: Any, state: EncoderState, unseen: Mapping[str, int]) -> str:
    """Say what new values in some columns do to intervals."""
    text = {column.name for column in state.used if isinstance(column, LevelsColumn)}
    if model.fitted_.new_levels is None or not text.issuperset(unseen):
        return "means stand for them, so that intervals are too narrow"
    return "intervals allow for as much as the known levels differ"


def _rows(found: Novelty) -> str:
    return f"{found.n:,} row{'' if found.n == 1 else 's'}"


def _columns(counts: Mapping[str, int]) -> str:
    """Return the columns with the largest counts first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    more = f" and {len(ranked) - _NAMED} more columns" if len(ranked) > _NAMED else ""
    return ", ".join(f"{name} ({count:,})" for name, count in ranked[:_NAMED]) + more
