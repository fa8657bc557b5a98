"""Rows with known targets: their column, rows that lack one, and rows that training saw."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from elmband.cli._model import opened
from elmband.cli._status import note
from elmband.estimators.labelled import count_targets
from elmband.ground.wording import counted
from elmband.report.inputs import labelled_rows, seen_in_training
from elmband.report.rows import total
from elmband.report.training_overlap import training_overlap
from elmband.sources.stream import Scan


def target_of(model: Any, asked: str | None) -> str:
    """Return the column with the truth: the one asked for, or the one that the model knows."""
    name = asked or model.target_name_
    if name is None:
        raise ValueError(
            "The model does not know the name of its target: it is of an earlier version, or was "
            "trained on columns without names. Name the column with the truth with --target."
        )
    return str(name)


@contextmanager
def opened_labelled(model: Any, data: str, target: str | None, **how: Any) -> Iterator[Any]:
    """Give a scan of rows with known targets, as a model reads them."""
    name = target_of(model, target)
    remembered = None if target else name
    if model.encoder_ is None:
        # Numbers of a table, which may have other columns.
        known = model.fitted_.inputs.names
        how["features"] = None if known is None else list(known)
        # An encoder would leave out columns that are constant here, and is only for classes.
        how["plain"] = known is not None and not hasattr(model, "classes_")
    with opened(data, encoder=model.encoder_, target=name, remembered=remembered, **how) as rows:
        yield rows


def dropped(rows: Any, used: float | None = None) -> int | None:
    """Return how many rows of a scan had no target; None where nobody has counted them.

    Workers count the rows that they have `used`.
    """
    count: int | None = rows.n_dropped
    if count is None and None not in (used, rows.n_rows):
        return int(rows.n_rows - round(used or 0))
    return count


def used_rows(rows: Any) -> int | None:
    """Return how many rows of a scan have a target, None where they were not counted."""
    count = dropped(rows)
    return None if rows.n_rows is None or count is None else rows.n_rows - count


def dropped_line(count: int | None) -> str:
    """Say how many rows were left out."""
    if count is None:
        return "Rows without a target are left out."
    return f"{counted(count, 'row')} without a target left out."


def share_of_training(model: Any, rows: Scan) -> float | None:
    """Return the share of the rows of a scan that training saw, and say so where there are any.

    None is for models that do not know their rows, and for several targets. It takes a pass.
    """
    fitted = model.fitted_
    known = fitted.notes.row_prints is not None and count_targets(fitted) == 1
    if not known or rows.has_weights:
        return None
    judged = labelled_rows(model, rows, ())
    found = training_overlap(total(judged, partial(seen_in_training, model), None, "fingerprints"))
    if found is None:
        return None
    if found["warns"]:
        note(found["sentence"])
    return float(found["share"])
