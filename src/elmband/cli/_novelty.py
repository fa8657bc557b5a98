"""Notes on rows that are unlike those a model was trained on."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from elmband.cli._status import note
from elmband.estimators._tables import notes_on
from elmband.ground.wording import counted
from elmband.sources.encode.novelty import Novelty


def novelty(model: Any, table: Any) -> Novelty:
    """Count what a model was not trained for in some rows of a table."""
    if model.encoder_ is None:
        return Novelty(table.num_rows, 0, 0, 0, 0, {}, {})
    return model.encoder_.novelty(table)  # type: ignore[no-any-return]


def tell_novelty(model: Any, found: Novelty) -> None:
    """Say how many rows leave the range of the training rows, or have values they had none of."""
    for sentence in () if model.encoder_ is None else notes_on(model, found):
        note(sentence)


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


def facts_of(found: Novelty) -> dict[str, Any]:
    """Return the counts of columns, in plain types."""
    return {"beyond": dict(found.beyond), "unseen": dict(found.unseen)}
