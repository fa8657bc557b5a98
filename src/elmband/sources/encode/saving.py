"""Encoders to files that hold nothing to be run, and what a file must hold to be one."""

import warnings
from importlib.metadata import version
from pathlib import Path

import numpy as np

from elmband.ground.files import check_writable

# What it is made of is listed beside all that it offers.
from elmband.sources import encode
from elmband.sources.encode.calendar import PARTS
from elmband.sources.encode.state import (
    EncoderState,
    LevelsColumn,
    NumberColumn,
    TimeColumn,
    UsedColumn,
)
from elmband.sums.packed_file import Kinds, Stored, pack, write

NAME = "TableEncoder"
"""What a file calls an encoder."""


def write_encoder(state: EncoderState, path: str | Path) -> Path:
    """Write a fitted encoder to a file, which appears whole or not at all."""
    check_writable(Path(path))
    check_state(state)
    kinds: Kinds = {kind: {} for kind in encode.ENCODER_KINDS}
    return write(path, pack(Stored(NAME, {"state_": state}, version("elmband")), kinds))


def state_of(stored: Stored) -> EncoderState:
    """Return the state of an encoder from a file; one that does not work is an exception."""
    (state,) = stored.state.values()
    if not isinstance(state, EncoderState) or stored.state.keys() != {"state_"}:
        raise ValueError("no state of an encoder")
    check_state(state)
    return state


def check_state(state: EncoderState) -> None:
    """Refuse a state whose parts do not fit together, by trying it out on a row without values."""
    names = [column.name for column in state.columns]
    if not state.used or len(set(names)) < len(names) or state.dtype not in ("float32", "float64"):
        raise ValueError("columns do not fit")
    if not state.named and names != [f"x{j}" for j in range(len(names))]:
        raise ValueError("names do not fit")
    if not (np.isfinite([state.n_rows, state.min_count]).all() and state.n_rows > 0):
        raise ValueError("rows do not fit")
    for column in state.used:
        _check_column(column)
        out = np.full((1, len(column.endings)), np.nan, state.dtype)
        with warnings.catch_warnings():
            # Of a value that is missing where the fit had none.
            warnings.simplefilter("ignore")
            raw = state.read(column, np.array([None], dtype=object))
            column.write(column.work_out(raw), out)
        if not out.shape[1] or not np.isfinite(out).all():
            raise ValueError("features do not fit")


def _check_column(column: UsedColumn) -> None:
    """Refuse numbers and names that no fit arrives at."""
    numbers: tuple[float, ...] = ()
    fits = True
    if isinstance(column, LevelsColumn):
        numbers, marks = column.shares, len(column.endings)
        fits = len(set(column.levels)) == len(column.levels) and len(column.shares) == marks
    elif isinstance(column, TimeColumn):
        numbers = column.means
        known = [part for part in PARTS if part in column.parts]
        fits = known == list(column.parts) and len(column.means) == len(known)
        fits = fits and column.kind in {"dates", "dates with a time zone", "times of day"}
    elif isinstance(column, NumberColumn):
        numbers, fits = (column.mean,), column.kind in {"numbers", "durations"}
    if not fits or not np.isfinite(numbers).all():
        raise ValueError("a column does not fit")
