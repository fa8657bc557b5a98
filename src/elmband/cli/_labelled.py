"""Rows with known targets: by the column that the model was trained to predict, or another."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from elmband.cli._model import opened


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
    with opened(data, encoder=model.encoder_, target=name, remembered=remembered, **how) as rows:
        yield rows
