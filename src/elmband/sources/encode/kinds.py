"""The classes that the state of an encoder is made of."""

from typing import Any

from elmband.sources.encode.notes import ColumnNote
from elmband.sources.encode.state import (
    DroppedColumn,
    EncoderState,
    LevelsColumn,
    NumberColumn,
    TimeColumn,
)
from elmband.sources.encode.target import TargetLevels

ENCODER_KINDS: tuple[type[Any], ...] = (
    ColumnNote,
    DroppedColumn,
    EncoderState,
    LevelsColumn,
    NumberColumn,
    TargetLevels,
    TimeColumn,
)
"""What is packed into files, and made from them again."""
