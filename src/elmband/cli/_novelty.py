"""Notes on rows that are unlike those a model was trained on."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from elmband.cli._options import counted
from elmband.cli._status import note
from elmband.encode.novelty import Novelty, tells_of_gaps
from elmband.encode.state import EncoderState, LevelsColumn

# So many columns are named.
_NAMED = 5


def novelty(model: Any, table: Any) -> Novelty:
    """Count what a model was not trained for in some rows of a table."""
    if model.encoder_ is None:
        return Novelty(table.num_rows, 0, 0, 0, 0, {}, {})
    return model.encoder_.novelty(table)  # type: ignore[no-any-return]


def tell_novelty(model: Any, found: Novelty) -> None:
    """Say how many rows leave the range of the training rows, or have values they had none of."""
    if model.encoder_ is None:
        return
    state, rows = model.encoder_.state_, counted(found.n, "row")
    if found.is_beyond_chance(state):
        note(
            f"{found.rows_beyond:,} of {rows} lie beyond the training rows, in "
            f"{_columns(found.beyond)}: intervals say little there."
        )
    if found.rows_new:
        filled = {column.name for column in state.used if tells_of_gaps(column)}
        unseen = {name: count for name, count in found.unseen.items() if name not in filled}
        note(
            f"{found.rows_new:,} of {rows} have values that the training rows had none of, in "
            f"{_columns(unseen)}: {_consequence(model, state, unseen)}."
        )


def unbounded(columns: Mapping[str, Any]) -> int:
    """Count rows of which nothing is known: their intervals are infinite."""
    bounds = [values for name, values in columns.items() if name.startswith(("lower_", "upper_"))]
    return int(np.isinf(bounds).any(axis=0).sum()) if bounds else 0


def tell_unbounded(count: int) -> None:
    """Say that there are infinite bounds, and where they come from."""
    if count:
        note(
            f"{counted(count, 'row')} have infinite bounds, as where a value is too large to "
            "compute with, such as 1e308: nothing is known of them."
        )


def _consequence(model: Any, state: EncoderState, unseen: Mapping[str, int]) -> str:
    """Say what new values in some columns do to intervals."""
    text = {column.name for column in state.used if isinstance(column, LevelsColumn)}
    if getattr(model, "_new_levels", None) is None or not text.issuperset(unseen):
        return "means stand for them, so that intervals are too narrow"
    return "intervals allow for as much as the known levels differ"


def facts_of(found: Novelty) -> dict[str, Any]:
    """Return the counts of columns, in plain types."""
    return {"beyond": dict(found.beyond), "unseen": dict(found.unseen)}


def _columns(counts: Mapping[str, int]) -> str:
    """Return the columns with the largest counts first."""
    ranked = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    more = f" and {len(ranked) - _NAMED} more columns" if len(ranked) > _NAMED else ""
    return ", ".join(f"{name} ({count:,})" for name, count in ranked[:_NAMED]) + more
