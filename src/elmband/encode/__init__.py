"""Tables as people have them: numbers, text, dates and missing values to numbers."""

from elmband.encode.calendar import calendar
from elmband.encode.encoder import TableEncoder
from elmband.encode.saving import ENCODER_KINDS
from elmband.encode.state import EncoderState, LevelsColumn, NumberColumn, TimeColumn

__all__ = [
    "ENCODER_KINDS",
    "EncoderState",
    "LevelsColumn",
    "NumberColumn",
    "TableEncoder",
    "TimeColumn",
    "calendar",
]
