"""Tables as people have them: numbers, text, dates and missing values to numbers."""

from typing import Any

from elmband.sources.encode.calendar import calendar
from elmband.sources.encode.encoder import TableEncoder
from elmband.sources.encode.notes import ColumnNote
from elmband.sources.encode.state import (
    DroppedColumn,
    EncoderState,
    LevelsColumn,
    NumberColumn,
    TimeColumn,
)
from elmband.sources.encode.target import TargetLevels

__all__ = [
    "ENCODER_KINDS",
    "EncoderState",
    "LevelsColumn",
    "NumberColumn",
    "TableEncoder",
    "TimeColumn",
    "calendar",
]

ENCODER_KINDS: tuple[type[Any], ...] = (
    ColumnNote,
    DroppedColumn,
    EncoderState,
    LevelsColumn,
    NumberColumn,
    TargetLevels,
    TimeColumn,
)
"""The classes that the state of an encoder is made of."""
